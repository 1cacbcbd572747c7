import { Failure } from '../../core/failure.ts';
import { writeNamed } from '../../store/disk/files.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { findingLine, type AuditCounts, type FindingRow } from './audit-licenses.ts';

interface AcceptedFiles {
  readonly accepted: ReadonlyMap<string, string>;
  readonly write_accepted: string | undefined;
  readonly hasRoster: boolean;
}

/** The findings that are not accepted, and at the end their number. @throws Failure differences where there is one */
export async function* countFindings(
  findings: AsyncGenerator<FindingRow, AuditCounts>,
  { accepted, write_accepted: target, hasRoster }: AcceptedFiles,
  { conclude, note }: Pick<WorkMessages, 'conclude' | 'note'>,
): AsyncGenerator<FindingRow> {
  const found = new Map<string, string>();
  let [count, acceptedCount] = [0, 0];
  let result = await findings.next();
  try {
    for (; !result.done; result = await findings.next()) {
      const line = findingLine(result.value);
      const known = accepted.get(line);
      if (known !== undefined || target !== undefined || accepted.size > 0) found.set(line, known ?? line);
      if (known !== undefined) acceptedCount += 1;
      else {
        count += 1;
        yield result.value;
      }
    }
  } finally {
    // Where nobody reads on, the list is not read on either.
    await findings.return({ licenses: 0, retired: 0, places: new Set() });
  }
  const { licenses, retired, places } = result.value;
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
  const counts = [...countWords(retired, 'retired'), ...countWords(acceptedCount, 'accepted')].join(', ');
  const all = `${count === 0 ? 'no' : count} finding${count === 1 ? '' : 's'} in ${licenses} license${licenses === 1 ? '' : 's'}`;
  const summary = `${all}${counts && ` (${counts})`}${target === undefined ? '' : `; accepted from now on by --accept ${target}`}`;
  conclude(summary);
  if (count > 0 && target === undefined) throw new Failure('differences', summary);
}

function countWords(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}
