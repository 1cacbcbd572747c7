/** The form that names share which differ only by case, blanks, Unicode form, leading zeros or doubled backslashes. */
export function foldName(name: string): string {
  return plainName(name.normalize('NFKC').replace(/\s+/g, ''));
}

/** The form that two names of probably one user share: `plainName` differs by none of what people and tools change. */
export function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replace(/\s+/g, ' ')
    .replaceAll('\\\\', '\\')
    .replace(/^0+(?=.)/, '');
}
