import { commandLine } from '../../core/shell-word.ts';
import { lostLine, problemsOf, strangeFile, type Archive, type ArchiveProblem } from '../../store/archive/archive.ts';
import { copyHint } from '../../store/archive/archive-head.ts';
import { isKeptAside } from '../../store/archive/archive-lists.ts';
import { attachedFiles } from './attached-files.ts';

/** What is wrong with an archive, and that its last pull did not end; each with what mends it. */
export async function* allProblemsOf(archive: Archive): AsyncGenerator<ArchiveProblem & { readonly hint: string }> {
  for await (const problem of problemsOf(archive)) yield { ...problem, hint: hintOf(problem, archive) };
  // Attached files that no pull has asked for yet, where the archive keeps them.
  const unasked = archive.head.files ? attachedFiles(archive).filter((path) => !archive.files.has(path)).length : 0;
  const waiting = { file: 'files.ndjson', problem: `attached files that were not fetched yet: ${unasked}` };
  for (const { file, problem } of [...archive.unfinished, ...(unasked > 0 ? [waiting] : [])])
    yield { part: null, file, problem, ids: null, hint: pullHint(archive.folder) };
}

/** What mends a problem. */
function hintOf({ file, problem }: ArchiveProblem, { folder, damage }: Archive): string {
  if (isKeptAside(file)) return `Look at the files that end in .damaged, and move them out of ${folder}.`;
  if (problem === strangeFile) return `Move what does not belong to the archive out of ${folder}.`;
  if (file === 'purge.ndjson')
    return `Put purge.ndjson back from a copy; or move ${folder} away: topic delete then archives and deletes what is left.`;
  // Nothing can be pulled while one of these is damaged.
  const known = damage.find((one) => one.file !== 'purge.ndjson')?.file;
  if (known !== undefined || file === 'parts.ndjson' || problem === lostLine) return copyHint(known ?? 'parts.ndjson');
  return pullHint(folder);
}

function pullHint(folder: string): string {
  return `Run: ${commandLine('archive pull', [folder])}`;
}
