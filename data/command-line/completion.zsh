#compdef {{PROGRAM}}
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
{{BASH}}
