import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import {
  archivesIn,
  countMessages,
  inspectArchive,
  problemsOf,
  type Archive,
  type ArchiveProblem,
} from '../../store/archive/archive.ts';
import { copyHint, limitedHistory } from '../../store/archive/archive-head.ts';
import { isKept, otherContent } from '../../store/archive/kept-file.ts';
import { partNumberIn } from '../../store/archive/part.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import { foldersArgument } from './folder.ts';

export default command({
  about: [
    'Reads every file of the archive. It compares archive.json and the lists with what the last run wrote, and each part with the list of parts (size, ' +
      'SHA-256, the ids of its messages and their order); it checks attached files, and whether the last pull reached its end. Each problem is a row, and the exit code is 10 if there is any. It works offline: archive pull finds what is new on the server.',
    'DIR may contain several archives, as archive pull --all-channels and topic delete create them: then each row names its archive.',
  ],
  args: { folder: foldersArgument },
  examples: ['chatelaine archive verify kitchen', 'chatelaine archive verify everything'],

  async *rows({ folder }, { conclude, warn }) {
    const folders = await archivesIn(folder);
    const sum = { messages: 0, parts: 0, problems: 0 };
    const hints = new Set<string>();
    for (const own of folders) {
      const archive = await inspectArchive(own);
      const tell = (text: string): void => warn(own === folder ? text : `${own}: ${text}`);
      for await (const { kind, file, problem } of problemsOf(archive)) {
        hints.add(hintOf({ kind, file, problem }, archive));
        sum.problems += 1;
        yield { ...(own !== folder && { folder: own }), file, problem };
      }
      if (archive.head.history_limited) tell(limitedHistory);
      const lacking = [...archive.files.values()].filter((record) => !isKept(record)).length;
      if (lacking > 0) tell(`attached files that the server did not give: ${lacking}`);
      sum.messages += countMessages(archive);
      sum.parts += archive.parts.length;
    }
    const count = folders[0] === folder ? '' : `archives: ${folders.length}, `;
    const verdict = sum.problems === 0 ? 'no problem' : `problems: ${sum.problems}`;
    conclude(`${count}messages: ${sum.messages}, parts: ${sum.parts}; ${verdict}`);
    if (sum.problems === 0) return;
    for (const hint of hints) conclude(hint);
    throw new Failure('differences', `problems: ${sum.problems}`);
  },

  show: { columns: [...whole('folder'), { name: 'problem', keep: 1 }, 'file'] },
});

function hintOf({ kind, file, problem }: ArchiveProblem, { folder, problems }: Archive): string {
  if (kind === 'foreign') return `Move what does not belong to the archive out of ${folder}.`;
  if (file === 'purge.ndjson')
    return `Put purge.ndjson back from a copy; or move ${folder} away: topic delete then archives and deletes what is left.`;
  // A damaged list blocks every pull, so it has to be restored before anything else.
  const known = problems.find((one) => one.file !== 'purge.ndjson' && (one.kind === 'list' || one.kind === 'lost'));
  if (known) return copyHint(known.file);
  if (kind === 'content' && partNumberIn(file) !== undefined) return copyHint(file);
  // A pull fetches attached files again, but without --recheck it reads only those that look changed.
  return `Run: ${commandLine('archive pull', [folder], { recheck: problem.startsWith(otherContent) })}`;
}
