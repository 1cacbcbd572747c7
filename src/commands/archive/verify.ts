import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { attachedFiles } from '../../jobs/archive/attached-files.ts';
import {
  inspectArchive,
  type Archive,
  problemsOf,
  strangeFile,
  type ArchiveProblem,
} from '../../store/archive/archive.ts';
import { headHint, manifestFile } from '../../store/archive/archive-head.ts';
import { isKeptAside } from '../../store/archive/archive-lists.ts';
import { isKept } from '../../store/archive/kept-file.ts';
import { command } from '../command.ts';
import { folderArgument, limitedHistory } from './folder.ts';

export default command({
  about: [
    'Reads every file of the archive: archive.json and the lists against what the last run left, each part against the list of parts (size, ' +
      'SHA-256, the ids of its messages and their order), attached files, and whether the last pull reached its end. Each problem is a row, and any problem is exit code 10. It asks no server: what is new, edited or no longer visible there is the business of archive pull.',
    'archive pull DIR fetches the messages of damaged or missing files again, and makes lines that the list of parts, parts.ndjson, lost from ' +
      'the files of the parts, where these are whole. A damaged file that a repair kept aside, because the server no longer had all its messages, is a problem until it is moved away.',
  ],
  args: { folder: folderArgument },
  examples: ['chatelaine archive verify kitchen'],

  async *run({ folder }, { conclude, warn }) {
    const archive = await inspectArchive(folder);
    const hints = new Set<string>();
    let count = 0;
    for await (const problem of problemsOf(archive)) {
      count += 1;
      hints.add(hintOf(problem, archive));
      yield problem;
    }
    // Attached files that no pull has asked for yet, where the archive keeps them.
    const unasked = archive.head.files ? attachedFiles(archive).filter((path) => !archive.files.has(path)).length : 0;
    const waiting = { file: 'files.ndjson', problem: `attached files that were not fetched yet: ${unasked}` };
    for (const { file, problem } of [...archive.unfinished, ...(unasked > 0 ? [waiting] : [])]) {
      count += 1;
      hints.add(pullHint(folder));
      yield { part: null, file, problem, ids: null };
    }
    if (archive.head.history_limited) warn(limitedHistory);
    const lacking = [...archive.files.values()].filter((record) => !isKept(record)).length;
    if (lacking > 0) warn(`attached files that the server did not give: ${lacking}`);
    const messages = archive.parts.reduce((sum, part) => sum + part.count, 0);
    conclude(
      `${messages} messages, parts: ${archive.parts.length}; ${count === 0 ? 'no problem' : `problems: ${count}`}`,
    );
    if (count === 0) return;
    for (const hint of hints) conclude(hint);
    throw new Failure('differences', `${count} problems`);
  },

  show: { columns: ['part', 'file', 'problem', 'ids'] },
});

/** What mends a problem. Nothing can be pulled while archive.json is damaged. */
function hintOf({ file, problem }: ArchiveProblem, { folder, damage }: Archive): string {
  if (isKeptAside(file)) return `Look at the files that end in .damaged, and move them out of ${folder}.`;
  if (problem === strangeFile) return `Move what does not belong to the archive out of ${folder}.`;
  if (file === 'purge.ndjson')
    return `Put purge.ndjson back from a copy; or move ${folder} away: topic delete then archives and deletes what is left.`;
  return damage.some((one) => one.file === manifestFile) ? headHint : pullHint(folder);
}

function pullHint(folder: string): string {
  return `Run: ${commandLine('archive pull', [folder])}`;
}
