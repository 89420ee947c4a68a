# Completion of {{PROGRAM}}: {{PROGRAM}} completion fish | source

# The words of the command before the cursor, without options and what they take.
function __{{NAME}}_words
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
        else if contains -- $word {{VALUED}}
            set skip yes
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
function __{{NAME}}_at
    set -l words (__{{NAME}}_words)
    test "$words" = "$argv"
end
function __{{NAME}}_in
    set -l words (__{{NAME}}_words)
    test "$words[1.."(count $argv)"]" = "$argv"
end

complete -c {{PROGRAM}} -f
{{ROWS}}
