/**
 * Rules that keep what docs/exactly-once.md promises. Each is a place in src that the proof takes out (npm run simulate
 * -- --proof): a history of its world must then do wrong, within a minute of CPU.
 * @typedef {import('./bundle.js').Change & { readonly name: string, readonly world: string }} Rule
 */

/**
 * @param {string} world with the kind of history that is about the rule alone, if there is one (`alone` in worlds.ts)
 * @param {string} file below src
 * @param {readonly (readonly [name: string, from: string, to: string])[]} places
 * @returns {Rule[]}
 */
const inFile = (world, file, places) => places.map(([name, from, to]) => ({ name, world, file, from, to }));

/** @type {readonly Rule[]} */
export const rules = [
  ...inFile('ensure', 'store/lock/lock.ts', [
    [
      'the lock of a dead owner is cleared away',
      'owner && !abandoned.has(lockOf(path, owner.token, me)) && (await liveOwner(owner, me, system));\n  if',
      'owner && { name: "somebody", isSeen: true };\n  if',
    ],
    [
      'a lock without content is that of a dead owner',
      '{ pid: 0, token: `broken${(await stat(path)).ino}` }',
      '{ pid: 1, token: `broken${(await stat(path)).ino}` }',
    ],
    [
      'a lock that is cleared away is free at once',
      '  const conflict = owner && (await removeStale(path, owner, me, system));\n',
      "  const conflict = owner && (await removeStale(path, owner, me, system));\n  if (owner) throw new Failure('unavailable', 'it was that of a dead process', {});\n",
    ],
    [
      'a lock that is given back is removed',
      'if (isLinked || (await ownerOf(path))?.token === me.token) await remove(path);',
      "if (path.endsWith('x') && isLinked) await remove(path);",
    ],
  ]),
  ...inFile('ensure', 'store/disk/owner.ts', [
    ['a zombie is gone', ' || /[ZX]/.test(state)', ''],
    ['a later process with the same id is another one', 'startIn(line) !== owner.start || ', ''],
    ['an owner of an earlier boot is gone', "isEarlier && isHere ? 'gone' : 'unseen'", "'unseen'"],
    ['the mark of the computer is synced', '  await syncFolder(folder);\n  return mark;', '  return mark;'],
  ]),
  ...inFile('ensure 3', 'store/disk/owner.ts', [
    [
      'a computer that cannot be marked for now is no computer without a mark',
      'if (!isUnsafe && !isLasting(cause)) throw',
      'if (false) throw',
    ],
  ]),
  ...inFile('ensure', 'store/disk/private.ts', [
    ['a new folder is synced into its parent', '  await syncFolder(parent);', ''],
  ]),
  ...inFile('archive', 'store/disk/files.ts', [
    [
      'the content of a file is synced before its name',
      '      await file.sync();\n      return result;',
      '      return result;',
    ],
  ]),
  ...inFile('ensure', 'store/disk/files.ts', [['a name is synced', '  await syncFolder(dirname(to));', '']]),
  ...inFile('ensure', 'store/disk/records.ts', [
    ['a line of the record is synced', '\n  await file.datasync();\n', '\n'],
    [
      'a line of the history is synced',
      '    await appendSynced(file, endsInLine(file) ? lines : `\\n${lines}`);',
      '    appendFileSync(file.fd, endsInLine(file) ? lines : `\\n${lines}`);',
    ],
  ]),
  ...inFile('ensure', 'store/record/history.ts', [
    ['the name of a history is synced', '      if (synced !== path) await syncFolder(folder);\n', ''],
  ]),
  ...inFile('ensure', 'store/record/run-files.ts', [
    [
      'one run has a user',
      'const lock = await tryLock(path, this.#host, await this.#draft());',
      'const lock = { release: async () => undefined, holder: path };',
    ],
    ['no line follows one that a crash cut', '        await opened.truncate(size);\n', ''],
  ]),
  ...inFile('ensure', 'store/record/joined-writes.ts', [
    ['what a dead run had under way is pending', 'while (await this.#closeEnded(place, records));', 'while (false);'],
    [
      'what other runs have under way counts',
      'this.#countedIn([...this.#seen.values()].flat());',
      'this.#countedIn([]);',
    ],
  ]),
  ...inFile('apply 5', 'store/record/joined-writes.ts', [
    [
      'nobody sees what a dead run had under way without its end',
      'return this.#inTurn(async () => {',
      'return Promise.resolve().then(async () => {',
    ],
  ]),
  ...inFile('ensure', 'store/record/run-record.ts', [
    [
      'an answer stays open until a list shows it',
      "if (line.is !== 'answered' && line.is !== 'no answer')",
      "if (line.is !== 'no answer')",
    ],
    ['two spellings of one name exclude one another', 'folded ${foldName(remote_user)}`', 'folded ${remote_user}`'],
  ]),
  ...inFile('apply', 'store/record/joined-writes.ts', [
    [
      "each worker's own line is on disk before its request",
      'await this.#lines.addNow((place) => {',
      'began = this.#world.elapsed();\n      void this.#lines.addNow((place) => {',
    ],
  ]),
  ...inFile('apply', 'store/record/run-record.ts', [
    [
      'what dead runs have left counts until n times --settle',
      'if (isGone && end && now >= endedAt + end.n * asked.settle) continue;',
      'if (isGone) continue;',
    ],
  ]),
  ...inFile('rename', 'store/record/run-record.ts', [
    [
      'a name that was given may be shown late',
      "return asked.kind === 'change' && now >= endedAt + asked.settle;",
      "return asked.kind === 'change';",
    ],
  ]),
  ...inFile('ensure', 'jobs/license/places.ts', [
    ['a write is recorded before it is sent', 'await this.store.begin(id, users, asked);', 'void users;'],
    [
      'an answer is recorded at once',
      '          pending.passed(sent ?? elapsed());\n          ended(end);\n',
      '          pending.passed(sent ?? elapsed());\n',
    ],
  ]),
  ...inFile('apply 15', 'jobs/license/pending-writes.ts', [
    ['n requests have n times --settle', 'own.last + n * settle', 'own.last + settle'],
    [
      'an early break is settled by what was sent later',
      'Math.min(ended + n * settle, laterPassed + settle);',
      'ended + settle;',
    ],
  ]),
  ...inFile('ensure', 'jobs/license/next-step.ts', [
    ['a lookup that is too early decides nothing', 'if (!isSettled && !isShownOtherwise) return lookUp(one);', ''],
    ['what was answered is never sent again', 'if (answerOf(one)) return whereAnswered(one, refusal);', ''],
    [
      'what the history has is not created again',
      "if (one.known && !sent && !isAgain) return failed(one, { is: 'created before', known: one.known });",
      '',
    ],
    [
      'a license that was created is not unknown',
      "if (others.length === 0 && fits) return { do: 'end', outcome: 'created', license: only, licenses };",
      "if (others.length === 0 && fits) return failed(one, { is: 'others', added });",
    ],
    ['a repeat is sent only where the list shows nothing', 'if (refusal) return failed(one, refusal);', ''],
    [
      'what has no answer is sent again at most --retries times',
      'unanswered > (isAgain ? 0 : rules.retries)',
      'unanswered > 99',
    ],
  ]),
  ...inFile('apply', 'jobs/license/next-step.ts', [
    [
      'what an earlier run was answered is never sent again',
      'if (recorded.open && !sent && !isAgain)',
      'if (recorded.open && sent && !isAgain)',
    ],
  ]),
  ...inFile('create', 'jobs/license/next-step.ts', [
    [
      'a run creates one license of a user, however many others do',
      "if (!sent && rules.wants === 'another license') return undefined;",
      "if (rules.wants === 'another license') return undefined;",
    ],
    [
      'another license is one that was not there before',
      'before && !before.has(identityOf(license)) && !isEarlier(license);',
      'before !== undefined;',
    ],
  ]),
  ...inFile('ensure', 'jobs/license/case-lookups.ts', [
    [
      'what an earlier run asked for is waited for',
      'pending.map((write) => settledAt(write, rules.settle));',
      'pending.map(() => -Infinity);',
    ],
  ]),
  ...inFile('apply 1', 'jobs/license/give.ts', [
    ['who got more than one POST is looked up once more', 'if (one.sent) this.#resent.add(one.asked);', ''],
  ]),
  ...inFile('apply 13', 'jobs/license/creation-requests.ts', [
    ['the first creation is found before the second is sent', 'if (this.#isProved(one.asked)) return', 'return'],
  ]),
  ...inFile('apply', 'jobs/license/creation-requests.ts', [
    ['a first creation that no list shows bars the next ones', 'this.#ports.state.stop(stillOpen(open));', ''],
    [
      'a first creation of a moment ago is looked for again',
      'if (!shown && wait > 0) {',
      'if (!shown && wait > Infinity) {',
    ],
  ]),
  ...inFile('rename', 'api/licensing/license-writes.ts', [
    [
      'an answer to a change is about the license that was to be changed',
      'const differences = license && signs.length === 0 ? differencesFrom(edit.fields, license) : signs;',
      'const differences = license ? differencesFrom(edit.fields, license) : signs;',
    ],
  ]),
  ...inFile('ensure', 'api/licensing/license-writes.ts', [
    [
      'an answer with another license is not the one that was asked for',
      'license !== undefined && differencesFrom(asStored(asked, license), license).length > 0',
      'false',
    ],
  ]),
  ...inFile('ledger', 'store/record/history.ts', [
    ['what other computers created is known', 'const all = [...here, ...shared]', 'const all = [...here]'],
  ]),
  ...inFile('ledger', 'store/record/joined-writes.ts', [
    [
      'what a ledger knows of a user counts',
      'const writes = [...this.#seen].flatMap(',
      'const writes = [...this.#seen].slice(0, 1).flatMap(',
    ],
  ]),
  ...inFile('ledger', 'store/ledger/ledger-writes.ts', [
    ['of all runs one has a user', '    if (wish.isTaken) {\n', '    if (wish.key) {\n'],
    [
      'a connection that lost its users sends nothing',
      'if (!isExchanged(answer) || answer.written !== lines.length)',
      'if (!isExchanged(answer))',
    ],
    [
      'a restored ledger lacks what was written last',
      'if (this.#restored + settle <= this.#host.clock.elapsed()) return undefined;',
      'if (settle > 0) return undefined;',
    ],
    [
      'what had no answer is in the ledger',
      'addNow({ lines: added })',
      "addNow({ lines: added.filter(({ line }) => !('is' in line) || line.is !== 'no answer') })",
    ],
  ]),
  ...inFile('rename', 'jobs/license/change-license.ts', [
    [
      'a name that another run has is not given',
      'const lock = await store.lock(users);',
      'const lock = { release: () => Promise.resolve() };',
    ],
    ['a name that was asked for a moment ago is waited for', 'if (wait > 0) {', 'if (wait > Infinity) {'],
    ['a change without a response is looked for', 'if (shown) return shown;', ''],
  ]),
  ...inFile('rename', 'jobs/license/history.ts', [
    ['the history has the new name as the new one', 'remote_user: asked.remote_user ?? user,', 'remote_user: user,'],
    [
      'the history has the old name',
      'asked.remote_user === undefined || asked.remote_user === user ? undefined : user,',
      'undefined,',
    ],
  ]),
  ...inFile('retire', 'jobs/license/history.ts', [
    ['the history has the size that was asked for', 'size_allowance: asked.size_allowance ?? (', 'size_allowance: ('],
    [
      'the history has the size of before',
      'size_allowance_before: size === undefined ? undefined : Number(size),',
      'size_allowance_before: asked.size_allowance,',
    ],
  ]),
  ...inFile('rename', 'commands/license/changed.ts', [
    [
      'what is printed as changed was sent',
      'await changeLicense({ api, users, found: { ...found, key: code }, fields: after, method }, ports);',
      '{ ...found, fields: { ...found.fields, ...after } };',
    ],
  ]),
  ...inFile('rosters', 'store/record/run-record.ts', [
    [
      'a user is one of its application',
      'exact: hashOf(`${salt} ${app_code} ${remote_user}`),\n    folded: hashOf(`${salt} ${app_code} folded',
      'exact: hashOf(`${salt} ${remote_user}`),\n    folded: hashOf(`${salt} folded',
    ],
  ]),
  ...inFile('purge', 'jobs/topic/purge-topics.ts', [
    [
      'the history counts what was deleted, and not what was surveyed',
      '{ deleted: counts.deleted,',
      '{ deleted: purge.survey.ids.length,',
    ],
  ]),
  ...inFile('purge', 'jobs/topic/purge-topic.ts', [
    ['what a look shows is archived before its call', 'await this.archive?.add(unkept);', ''],
    ['what has come since is archived too', 'await this.archive?.add(came);', ''],
    [
      'that a call is asked is recorded before it is sent',
      "      await this.archive?.record({ call: 'asked' });\n",
      '',
    ],
    ['what is held is looked for before each call', 'if (hold) throw heldTopic(this.survey, hold);', ''],
    [
      'a purge without a fault does not wait',
      'const level = await this.#run.chat.level();',
      'await this.#run.sleep(30_000);\n    const level = await this.#run.chat.level();',
    ],
    ['after a failure a purge waits as long as a retry', 'sleep(backoff(', 'sleep(30_000 + backoff('],
  ]),
  ...inFile('purge', 'jobs/topic/purge-requests.ts', [
    [
      'messages that are gone are asked for by their ids',
      '(await findsByIds(chat)) ? gone : sampleOf(gone)',
      '(await findsByIds(chat)) ? [] : sampleOf(gone)',
    ],
  ]),
  ...inFile('purge', 'jobs/topic/purge-archive.ts', [['a reaction is a version of its own', "'reactions', ", '']]),
  ...inFile('purge', 'jobs/topic/purge-state.ts', [
    [
      'a round in which nothing went counts',
      'call.withoutProgress + (call.hasLook || call.isOfEarlierRun ? 0 : 1)',
      '0',
    ],
    ['a look is three times as deep as what went', '3 * Math.max(gone, look.mostGone)', 'gone'],
    [
      'only an answered call deletes',
      'call && isAnswered(call.end) && !call.isAfterBroken',
      'call && !call.isAfterBroken',
    ],
    ['what goes while a newer message stays is unseen', 'id > stayed && call.before.has(id)', 'call.before.has(id)'],
    [
      'what goes in the first answered call after a 500 is unseen',
      'call && isAnswered(call.end) && !call.isAfterBroken',
      'call && isAnswered(call.end)',
    ],
    ['what a call took below its look is counted', 'state.deeper + deeper.length', 'state.deeper'],
    ['of what a sample did not find nothing is concluded', "asked === 'sample' ? gone", "asked === 'sample' ? []"],
    ['what is found elsewhere counts', "[found, 'elsewhere']", "[[], 'elsewhere']"],
  ]),
  ...inFile('purge 9', 'jobs/topic/purge-topic.ts', [
    ['a call that waited is not sent', 'if (this.#run.elapsed() > freshUntil) throw new Unsent();', ''],
  ]),
  ...inFile('purge 9', 'api/chat/chat-messages.ts', [
    [
      'a purge sees that the plan hides messages',
      "history_limited: flags['history_limited'] === true",
      'history_limited: false',
    ],
  ]),
  ...inFile('purge 9', 'api/chat/message-pages.ts', [
    ['an empty last page says that the plan hides messages', ' || page.history_limited) yield', ') yield'],
  ]),
  ...inFile('purge 7', 'jobs/topic/purge-state.ts', [
    ['what no look before the call showed is unseen', 'id > stayed && call.before.has(id)', 'id > stayed'],
  ]),
  ...inFile('purge 15', 'jobs/topic/holds.ts', [
    [
      'a hold is of its topic in any case, resolved or not',
      'isSameTopic(unmarked(name), unmarked(topic))',
      'name === topic',
    ],
    ['a hold whose messages are in no channel bars the channel', 'lost.get(survey.channel.stream_id)', 'undefined'],
  ]),
  ...inFile('purge 0', 'jobs/messages/messages-by-ids.ts', [
    ['private channels are asked too', 'if (open.delete(message.id)) take(', 'if (message.id < 0) take('],
  ]),
  ...inFile('purge 5', 'jobs/topic/purge-topic.ts', [
    ['an archive that is taken away ends the run', 'await this.archive?.confirm();\n      if', 'if'],
  ]),
  ...inFile('archive', 'jobs/archive/pull-order.ts', [
    [
      'an archive goes on with the id of its channel',
      "return typeof operand === 'number' ?",
      'return operand === null ?',
    ],
  ]),
  ...inFile('archive', 'jobs/archive/pull-archive.ts', [
    ['what becomes visible out of order is looked for', 'last - outOfOrder + 1', 'last + 1'],
    ['a recheck compares the whole selection', 'last === 0 || recheck ?', 'last === 0 ?'],
  ]),
  ...inFile('archive 9', 'jobs/messages/places.ts', [
    [
      'a page whose messages are renamed is read again',
      '      const again = await read();\n',
      '      const again = page;\n',
    ],
  ]),
  ...inFile('archive', 'jobs/archive/recheck-archive.ts', [
    ['a recheck records what was moved', "isMoved(before, now) ? (['moved'] as const)", '!now ? []'],
  ]),
  ...inFile('files', 'jobs/archive/attached-files.ts', [
    [
      'an attached file that is kept is not fetched again',
      'if (isKept(known) && (await archive.holds(known, which))) return undefined;',
      '',
    ],
    ['a file that the server no longer has is named once', 'known?.refused === kept.refused ?', 'false ?'],
    [
      'whoever cannot keep each file says so',
      'if (refused.length > 0) untilWritten(',
      'if (refused.length > Infinity) untilWritten(',
    ],
    [
      'a file that the server no longer has is no failure',
      "fetched.lacking.filter(({ why }) => why === 'failed')",
      'fetched.lacking',
    ],
    ['the line of a kept file is recorded', 'if (record) await archive.recordFile(record);', ''],
  ]),
  ...inFile('files', 'store/archive/archive.ts', [
    [
      'files of later versions of messages are kept',
      'parts.flatMap(({ attached }) => attached), ...later])',
      'parts.flatMap(({ attached }) => attached)])',
    ],
  ]),
  ...inFile('files', 'api/chat/uploads.ts', [
    ['a page to sign in is no file', '/^(text\\/html|application\\/xhtml)/i.test(type) && ', 'false && '],
    ['a server in trouble refuses no file', 'if (isTrouble(answer.status) &&', 'if (answer.status === 0 &&'],
    [
      'an address that no longer works is asked for again',
      'if (isLast || !expired.has(answer.status))',
      'if (answer.status !== 200)',
    ],
  ]),
  ...inFile('files', 'store/archive/part.ts', [
    ['a part has the files that its messages name', 'attached: uploadsOf(rows, site) };', 'attached: [] };'],
  ]),
  ...inFile('files', 'store/disk/files.ts', [
    [
      'the content of a kept file is synced before its name',
      '      await file.sync();\n      return result;',
      '      return result;',
    ],
  ]),
  ...inFile('files', 'store/archive/line-file.ts', [
    ['a line of an archive is synced', '      await file.datasync();\n', ''],
  ]),
  ...inFile('archive 7', 'store/archive/open-archive.ts', [
    ['what a disk may not have is not sealed', 'if (!isOnDisk || !this.#manifest)', 'if (!this.#manifest)'],
  ]),
  ...inFile('rosters', 'commands/roster.ts', [
    [
      'each application has a key of its own',
      'const api = apis.get(app_code) ?? context',
      'const api = [...apis.values()][0] ?? context',
    ],
  ]),
  ...inFile('rosters', 'jobs/license/give-ports.ts', [
    ['a refused key ends a roster', "new Set(['auth', 'config',", "new Set(['config',"],
  ]),
  ...inFile('rosters', 'commands/license/options.ts', [
    [
      'a row is told to the history of its application',
      '(apps.get(event.app_code ?? NaN) ?? first)?.recorder.record(event, run)',
      'first?.recorder.record({ ...event, app_code: targets[0]?.app_code }, run)',
    ],
  ]),
  ...inFile('rosters', 'jobs/license/license-user.ts', [
    ['a row is one of its application', 'return `${app_code} ${remote_user}`;', 'return `${remote_user}`;'],
  ]),
  ...inFile('apply', 'output/write.ts', [
    ['a write whose output fails waits for its work', 'isWrite ? ended : nextTurn()', 'nextTurn()'],
  ]),
  ...inFile('purges', 'jobs/topic/survey-topics.ts', [
    [
      'a purge of two topics goes on beside one that an earlier run deleted',
      'gone.filter(({ isEnded }) => !isEnded)',
      'gone',
    ],
  ]),
  ...inFile('sign-in', 'store/account/configuration.ts', [
    [
      'one process at a time changes the configuration',
      "withLock(join(folder, 'config.lock'), host, change, { what: 'the configuration' })",
      'change()',
    ],
    [
      'the name of a file of the configuration is synced',
      'await replace(draft, target)',
      "await (await import('../../core/outside.ts')).rename(draft, target)",
    ],
    ['a cut file is not put in place', '=== confText(content)', '!== undefined'],
    ['the draft of a killed process is removed', ') await remove(join(folder, name));', ') continue;'],
  ]),
];
