import { textOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { matchesGlob } from '../../core/glob.ts';
import { inOrder, orderOf } from '../../output/sort.ts';
import { textField } from '../../schema/field.ts';
import { licenseExtras, licenseFields, licenseFilters, matchField, phoneCode } from '../../schema/license.ts';
import { command } from '../command.ts';
import { readTime } from '../typed-time.ts';
import { allAppsOption, licensesOf, allAppsRule } from './apps.ts';
import { keyAlone, licenseShow } from './show.ts';

export default command({
  about: [
    'Without filters, every license of the application is listed. If the server sends only a part of the list, that part is printed, and the exit code is 8. --limit takes the first N, after --sort. If the key belongs to ' +
      'another application than the profile or --app-code says, the exit code is 4.',
  ],
  options: {
    ...licenseFilters,
    ...allAppsOption,
    match: matchField,
    code: {
      ...matchField,
      help: "Only keys that match, as in '*2FCA2'; understood in any case, without dashes, with O for 0",
    },
    size_allowance: { ...licenseFields.size_allowance, required: false, help: 'Only licenses of this size' },
    since: textField('TIME', 'Only licenses created since then; needs a server that sends created'),
    limit: { kind: 'integer', min: 1, placeholder: 'N', help: 'Maximum number of licenses' },
  },
  examples: [
    'chatelaine license list',
    'chatelaine license list --remote-user physio-7731 -o json',
    "chatelaine license list --match 'physio-*' --limit 20",
    'chatelaine license list --all-apps',
  ],

  rules: [allAppsRule],

  async *run({ all_apps, match, code, size_allowance, since, limit, ...filter }, context) {
    const begin = since === undefined ? undefined : readTime('--since', since, context);
    const isWanted = (license: License): boolean =>
      (!match || matchesGlob(match, textOf(license, 'remote_user') ?? '')) &&
      (!code ||
        matchesGlob(code, license.key ?? '') ||
        matchesGlob(code.map(phoneCode), phoneCode(license.key ?? ''))) &&
      (size_allowance === undefined || textOf(license, 'size_allowance') === String(size_allowance)) &&
      (begin === undefined || createdAt(license, since) >= begin);
    const { sort } = context.options;
    const extent = limit === undefined || sort !== undefined ? 'whole' : 'part';
    const listed = licensesOf({ ...filter, all_apps }, extent, context);
    const licenses = sort === undefined || limit === undefined ? listed : inOrder(listed, orderOf(sort), licenseShow);
    let count = 0;
    for await (const license of licenses) {
      if (!isWanted(license)) continue;
      yield license;
      count += 1;
      if (count === limit) return;
    }
    const [name = '*', ...others] = match ?? filter.remote_user ?? [];
    if (count === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no user is named '${name}'; --match '*${name}*' finds it in names`);
  },

  fields: licenseExtras,

  show: {
    ...licenseShow,
    ...keyAlone,
    columns: [...licenseShow.columns, { name: 'created', when: 'there', askedBy: 'since' }],
  },
});

/** @throws Failure rejected where the server does not say it: an incomplete list would pass for a whole one */
function createdAt({ fields }: License, since: string | undefined): number {
  const { created } = fields;
  const moment = typeof created === 'string' ? Date.parse(created) : NaN;
  if (!Number.isNaN(moment)) return moment;
  throw new Failure('rejected', '--since: the server does not say when a license was created', {
    hint: `What this computer issued is in its record: ${commandLine('license history', [], { since })}`,
  });
}
