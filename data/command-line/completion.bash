# Completion of {{PROGRAM}}: source <({{PROGRAM}} completion bash)

# The words that may follow those of a command, its options, what an option takes: words, @directory, @file or @text.
_{{NAME}}_words() {
  case $1 in
{{WORDS}}  esac
}
_{{NAME}}_options() {
  case $1 in
{{OPTIONS}}  esac
  echo '{{GLOBAL_OPTIONS}}'
}
_{{NAME}}_values() {
  case "$1 $2" in
{{VALUES}}  esac
}

_{{NAME}}() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' each values i
  # bash makes three words of --option=value.
  if [ "$word" = = ]; then
    word=''
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    each=${COMP_WORDS[i]}
    case $each in
      -*)
        if [ -n "$(_{{NAME}}_values "$command" "$each")" ]; then
          [ "${COMP_WORDS[i+1]}" = = ] && i=$((i + 1))
          i=$((i + 1))
        fi
        ;;
      *)
        case " $(_{{NAME}}_words "$command") " in
          *" $each "*) command="${command:+$command }$each" ;;
        esac
        ;;
    esac
  done
  values=$(_{{NAME}}_values "$command" "$before")
  if [ -z "$values" ]; then
    case $word in
      -*) values=$(_{{NAME}}_options "$command") ;;
      *) values=$(_{{NAME}}_words "$command") ;;
    esac
  fi
  local IFS=$' \t\n'
  case $values in
    @directory) IFS=$'\n' && COMPREPLY=($(compgen -d -- "$word")) ;;
    @file) IFS=$'\n' && COMPREPLY=($(compgen -f -- "$word")) ;;
    @text) COMPREPLY=() ;;
    *) COMPREPLY=($(compgen -W "$values" -- "$word")) ;;
  esac
}
complete -o filenames -F _{{NAME}} {{PROGRAM}}
