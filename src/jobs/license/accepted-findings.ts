import { usage } from '../../core/failure.ts';
import { findingNames, type FindingRow } from './audit-licenses.ts';

/** One line for a finding, without a key: two findings of one line are one fact. */
export function findingLine({
  finding,
  remote_user,
  app_code,
  fact,
}: Pick<FindingRow, 'finding' | 'remote_user' | 'app_code' | 'fact'>): string {
  const line = `${finding}: ${remote_user ?? 'no user'} in application ${app_code ?? '?'}: ${fact}`;
  return line.replace(/[\p{C}\p{Zl}\p{Zp}#]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16) ?? ''}}`);
}

/**
 * Reads the findings that somebody has accepted: a line each, as `findingLine` writes it, with a reason after ` #`. Blank lines, and those
 * that begin with `#`, are no findings.
 * @returns each finding with its whole line
 * @throws Failure usage naming every line that is no finding
 */
export function readAccepted(text: string, file: string): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
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
