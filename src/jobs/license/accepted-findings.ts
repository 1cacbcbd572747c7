/** Findings of an audit that somebody accepted: a line each, in a file that people write reasons into. */
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { writeNamed } from '../../store/disk/files.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { findingNames, placeOf, type AuditCounts, type FindingRow } from './audit-licenses.ts';

/** One line for a finding, without a key: two findings of one line are one fact. */
function findingLine(found: Omit<FindingRow, 'license' | 'license_code' | 'size_allowance'>): string {
  const { finding, remote_user, app_code, base_url, detail } = found;
  const line = `${finding}: ${remote_user ?? 'no user'} in ${placeOf(app_code, base_url)}: ${detail}`;
  return line.replace(/[\p{C}\p{Zl}\p{Zp}#]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16) ?? ''}}`);
}

/**
 * Reads accepted findings: lines of `findingLine`, each with a reason after ` #`; others begin with `#`, or are blank.
 * @returns each finding with its whole line @throws Failure usage naming every line that is no finding
 */
export function readAccepted(text: string, file: string): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  const problems: string[] = [];
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const finding = line.replace(/(^|\s)#.*/, '').trim();
    if (finding === '') continue;
    accepted.set(finding, line);
    const name = finding.slice(0, finding.indexOf(': '));
    if (!findingNames.some((known) => known === name) || !/: .+ in application .+: /.test(finding))
      problems.push(`${file}:${index + 1}: '${finding}' is not a finding`);
  }
  if (problems.length === 0) return accepted;
  throw usage(problems, 'Each line is as license audit --write-accepted FILE writes it; a reason follows it after #.');
}

interface AcceptedFiles {
  readonly accepted: ReadonlyMap<string, string>;
  readonly write_accepted: string | undefined;
  readonly hasRoster: boolean;
}

/** The findings that are not accepted, and at the end their number. @throws Failure differences where there is one */
export async function* countFindings(
  findings: AsyncIterable<FindingRow>,
  counts: AuditCounts,
  { accepted, write_accepted: target, hasRoster }: AcceptedFiles,
  { conclude, note }: Pick<WorkMessages, 'conclude' | 'note'>,
): AsyncGenerator<FindingRow> {
  const found = new Map<string, string>();
  let [count, acceptedCount] = [0, 0];
  for await (const row of findings) {
    const line = findingLine(row);
    const known = accepted.get(line);
    if (known !== undefined || target !== undefined || accepted.size > 0) found.set(line, known ?? line);
    if (known !== undefined) acceptedCount += 1;
    else {
      count += 1;
      yield row;
    }
  }
  const { licenses, retired, places } = counts;
  // Of another application, and of a roster that is not given, nothing can be said: these lines stay.
  const isLookedFor = (line: string): boolean =>
    (hasRoster || !/^(missing|unexpected|other-size):/.test(line)) &&
    [...places].some((place) => line.includes(` in ${place}: `));
  for (const [line, whole] of accepted)
    if (!found.has(line) && isLookedFor(line)) note(`no longer found, remove its line: ${line}`);
    else if (!found.has(line)) found.set(line, whole);
  if (target !== undefined) {
    const lines = [...found.values()].sort().map((line) => `${line}\n`);
    await writeNamed(target, (file) => file.writeFile(lines.join('')));
  }
  const beside = [retired > 0 && `${retired} retired`, acceptedCount > 0 && `${acceptedCount} accepted`].filter(
    Boolean,
  );
  const said = count === 0 ? 'no findings' : quantity(count, 'finding');
  const of = `${said} in ${quantity(licenses, 'license')}${beside.length > 0 ? ` (${beside.join(', ')})` : ''}`;
  const summary = target === undefined ? of : `${of}; accepted from now on by --accept ${target}`;
  conclude(summary);
  if (count > 0 && target === undefined) throw new Failure('differences', summary);
}
