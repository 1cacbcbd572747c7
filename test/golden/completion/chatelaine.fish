# Completion of chatelaine for fish.
function __chatelaine_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l offers (command chatelaine __complete fish $words "$current" 2>/dev/null)
    set -l kind $offers[1]
    set -e offers[1]
    set -l prefix (string match -r '^--[a-z-]+=' -- "$current")
    set -l path (string replace -r '^--[a-z-]+=' '' -- "$current")
    switch "$kind"
        case files
            __fish_complete_path "$path" | string replace -r '^' -- "$prefix"
        case folders
            __fish_complete_directories "$path" | string replace -r '^' -- "$prefix"
        case '*'
            printf '%s\n' $offers
    end
end
complete -c chatelaine -e
complete -c chatelaine -f -k -a '(__chatelaine_complete)'
