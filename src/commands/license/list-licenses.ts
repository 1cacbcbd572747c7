import { textOf, type License } from '../../api/licensing/license.ts';
import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { inOrder, orderOf } from '../../output/sort.ts';
import { flagField, textField } from '../../schema/field.ts';
import { licenseExtras, licenseFields, licenseFilters } from '../../schema/license.ts';
import { command } from '../command.ts';
import { keepOptions, rosterOptions, sheetRules } from '../roster.ts';
import { checkSpan, spanOf, type TimeParts } from '../typed-time.ts';
import { allAppsOption, licensesOf, allAppsRule } from './apps.ts';
import { keyAlone, licenseShow, partOfKey, searchFor, searchOptions } from './show.ts';

export default command({
  about: [
    'Without filters, every license of the application is listed. If the server sends only a part of the list, that part is printed, and the exit code is 8. --limit takes the first N, after --sort. If the key belongs to ' +
      'another application than the profile or --app-code says, the exit code is 4.',
  ],
  options: {
    ...licenseFilters,
    ...allAppsOption,
    size_allowance: { ...licenseFields.size_allowance, required: false, help: 'Only licenses of this size' },
    ...searchOptions,
    since: textField('TIME', 'Only licenses created since then; needs a server that sends created'),
    until: textField('TIME', 'Only licenses created before this time'),
    from: textField(
      'FILE',
      'Print a row for each row of this sheet, in its order, with the license of its user; - is standard input',
    ),
    ...rosterOptions,
    ...keepOptions,
    active: flagField('Omit retired licenses, and say how many there are'),
    limit: { kind: 'integer', min: 1, placeholder: 'N', help: 'Maximum number of licenses' },
  },
  examples: [
    'chatelaine license list',
    'chatelaine license list --remote-user physio-7731 -o json',
    "chatelaine license list --match 'physio-*' --limit 20",
    'chatelaine license list --from sheet.xlsx --keep-columns -o csv',
  ],

  rules: [
    allAppsRule,
    {
      option: 'from',
      excludes: ['remote_user', 'match', 'code', 'size_allowance', 'since', 'until', 'active', 'limit', 'all_apps'],
      hint: 'The sheet selects the users. --where COLUMN=VALUE selects rows of it, --jq part of the result: --jq \'.[] | select(.created >= "2026-01-31")\'',
    },
    ...sheetRules,
    { option: 'keep_columns', needs: ['from'] },
  ],

  async *rows({ from, all_apps, match, code, size_allowance, since, until, active, limit, ...filter }, context) {
    if (from !== undefined) {
      yield* (await import('./license-roster.ts')).licensesOfSheet(from, filter, context);
      return;
    }
    const { isUser, isKey } = searchFor(match, code);
    checkSpan({ since, until }, context);
    let isTime: ReturnType<typeof inSpan> | undefined;
    const isWanted = (license: License): boolean =>
      isUser(textOf(license, 'remote_user') ?? '') &&
      isKey(license.key ?? '') &&
      (size_allowance === undefined || textOf(license, 'size_allowance') === String(size_allowance));
    // These modules are loaded only for --active.
    const isRetired = active ? (await import('../../jobs/license/license-user.ts')).isRetired : undefined;
    const { sort } = context.options;
    const extent = limit === undefined || sort !== undefined ? 'whole' : 'part';
    const listed = licensesOf({ ...filter, all_apps }, extent, context);
    const licenses = sort === undefined || limit === undefined ? listed : inOrder(listed, orderOf(sort), licenseShow);
    let [count, retired] = [0, 0];
    for await (const license of licenses) {
      isTime ??= inSpan({ since, until }, context);
      // A sorted list is read beyond the limit, since only its end says whether it is complete.
      if (count === limit || !isWanted(license) || !isTime(license)) continue;
      if (isRetired?.(license)) {
        retired += 1;
        continue;
      }
      yield license;
      count += 1;
      if (count === limit && extent === 'part') return;
    }
    if (!isTime) spanOf({ since, until }, context);
    if (retired > 0) context.conclude(`${quantity(retired, 'retired license is', 'retired licenses are')} left out`);
    const [name = '*', ...others] = match ?? filter.remote_user ?? [];
    if (count === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no user is named '${name}': try --match '*${name}*'`);
    if (count === 0 && code?.some((one) => !/[*?]/.test(one))) context.note(partOfKey);
  },

  fields: [...licenseExtras, 'base_url'],

  show: {
    ...licenseShow,
    ...keyAlone,
    columns: [...licenseShow.columns, { name: 'created', when: 'there' }],
  },
});

/** The test for --since and --until, made after the first response; it throws if the server sends no times. */
function inSpan(span: Readonly<Record<'since' | 'until', string | undefined>>, context: TimeParts) {
  const { since, until } = spanOf(span, context);
  if (since === undefined && until === undefined) return () => true;
  return ({ fields: { created } }: License): boolean => {
    const moment = typeof created === 'string' ? Date.parse(created) : NaN;
    if (!Number.isNaN(moment)) return moment >= (since ?? -Infinity) && moment < (until ?? Infinity);
    const flag = since === undefined ? '--until' : '--since';
    throw new Failure('rejected', `${flag}: the server does not say when a license was created`, {
      hint: `What this computer issued is in its history: ${commandLine('license history', [], span)}`,
    });
  };
}
