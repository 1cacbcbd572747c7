import { readArchive } from '../../store/archive/archive.ts';
import { refuseOtherFiles } from '../../store/archive/archive-folder.ts';
import { readHead } from '../../store/archive/archive-head.ts';
import { refuseOtherOrder, type PullOrder } from './pull-archive.ts';

/** What a pull into a folder would begin with. */
export interface PlannedPull {
  /** Messages that the archive holds. */
  readonly messages: number;
  readonly status: 'would be created' | 'would be continued';
}

/**
 * What a pull would do; nothing is written, and no server is asked.
 * @throws Failure config for the archive of another site or account; usage for another selection, or a folder of other files
 */
export async function planPull(folder: string, order: PullOrder): Promise<PlannedPull> {
  if (!(await readHead(folder))) {
    await refuseOtherFiles(folder);
    order.selection();
    return { messages: 0, status: 'would be created' };
  }
  const archive = await readArchive(folder);
  refuseOtherOrder(archive.head, folder, order);
  return { messages: archive.parts.reduce((sum, part) => sum + part.count, 0), status: 'would be continued' };
}
