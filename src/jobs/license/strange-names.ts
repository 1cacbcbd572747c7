import type { LicenseFields } from '../../schema/license.ts';
import type { CheckedRoster } from '../../store/roster/read-roster.ts';

/** What spreadsheets make of numbers and failed formulas, and exporters write for nothing, a date or a sum. */
const strangeNames = [
  /^\d([.,]\d+)?E\+?\d+$|^\d+\.0$|^#[A-Z/0]+[!?]?$|^#{2,}$|^(TRUE|FALSE|\[object Object\])$/,
  /^[[(<{]?([-+]?inf(inity)?|null|nil|none|nan|nat|undefined|n\/?a|n\.a\.?|k\. ?a\.?|blank|empty|leer|vide)[\])>}]?$|^\\N$|^[-.?*_]+$/i,
  /^\d{4}([-/.])\d{1,2}\1\d{1,2}([T ]\d.*)?$|^\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d\d)( \d.*)?$|^\d{1,2}:\d\d(:\d\d)?$/,
  /^\d{1,2}[-. ][A-Z][a-z]{2}\.?([- ]\d{2,4})?$|^[A-Z][a-z]{2}-\d{2}$/,
  /^((Grand |GRAND |Sub-?|SUB-?|Sous-)?([Tt]otals?|TOTALS?)|Sum|SUM|(Zwischens|S|Gesamts)umme|(ZWISCHENS|S|GESAMTS)UMME|Somm[ae]|SOMM[AE]|Suma|Gesamt(ergebnis)?|GESAMT(ERGEBNIS)?|Teilergebnis)(?<!^totals?):?$/,
];
/** A day of 2000 to 2099 as a spreadsheet counts days; five digits may also be how all users are named. */
const dayNumber = /^(3[6-9]|[4-6]\d|7[0-2])\d{3}$/;
const maxNames = 3;

/** @param place the file of the roster, in words */
export function warnOfNames(
  { rows, lines }: Pick<CheckedRoster<LicenseFields>, 'rows' | 'lines'>,
  place: string,
  warn: (text: string) => void,
): void {
  const days = rows.filter(({ remote_user }) => dayNumber.test(remote_user)).length;
  const isStrange = (name: string): boolean =>
    strangeNames.some((one) => one.test(name)) || (dayNumber.test(name) && (days < 3 || days * 2 <= rows.length));
  const found = rows.flatMap(({ remote_user }, index) =>
    isStrange(remote_user) ? [`'${remote_user}' (line ${lines[index] ?? '?'})`] : [],
  );
  if (found.length === 0) return;
  const rest = found.length > maxNames ? ` and ${found.length - maxNames} more` : '';
  const [names, texts] = found.length === 1 ? ['the name of a user', 'such a text'] : ['names of users', 'such texts'];
  warn(`${place}: ${found.slice(0, maxNames).join(', ')}${rest} may not be ${names}: a spreadsheet writes ${texts}`);
}
