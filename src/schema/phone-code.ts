/** A key without what a phone call loses: case, blanks, dashes, O for 0, I and L for 1. Stars of a pattern stay. */
export function phoneCode(text: string): string {
  return text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
}

/** The form of a key, as in `XXXXX-XXXXX`: each letter or digit is an X. */
export function codeForm(key: string): string {
  return key.replace(/[a-z\d]/gi, 'X');
}
