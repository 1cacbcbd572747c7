import type { Accounts } from './context/accounts.ts';
import type { Disk } from './context/disk.ts';
import type { Invocation } from './context/invocation.ts';
import type { Keys } from './context/keys.ts';
import type { Ledgers } from './context/ledgers.ts';
import type { Services } from './context/services.ts';
import type { Terminal } from './context/terminal.ts';
import type { Time } from './context/time.ts';

/**
 * All that a command's `run` may use. A function that `run` calls takes the parts it uses, never the whole. What a member needs is
 * built when it is first called: `--help` touches no disk, key or network.
 */
export interface Context extends Invocation, Services, Accounts, Keys, Terminal, Disk, Ledgers, Time {}
