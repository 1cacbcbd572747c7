# Completion of chatelaine for bash, with and without the package bash-completion.
_chatelaine() {
  local line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -z "$kind" ]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <(command chatelaine __complete bash "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    folders) compopt -o dirnames ;;
  esac 2>/dev/null
}
if type compopt >/dev/null 2>&1; then
  complete -F _chatelaine chatelaine
else # bash 3
  complete -o default -F _chatelaine chatelaine
fi
