/**
 * Rules that keep what docs/exactly-once.md promises. Each is a place in src that the proof takes out (npm run simulate
 * -- --proof): a history of its world must then do wrong, within 60 s of CPU.
 * @typedef {import('./bundle.js').Change & { readonly name: string, readonly world: string }} Rule
 */

/**
 * @param {string} world
 * @param {string} file below src
 * @param {readonly (readonly [name: string, from: string, to: string])[]} places
 * @returns {Rule[]}
 */
const inFile = (world, file, places) => places.map(([name, from, to]) => ({ name, world, file, from, to }));

/** @type {readonly Rule[]} */
export const rules = [
  ...inFile('ensure', 'store/lock/local-claims.ts', [
    [
      'users are claimed under a lock',
      'return withLock(lock, host, () => takeUnderLock',
      'return ((_path, _host, work, _patience) => work())(0, 0, () => takeUnderLock',
    ],
    [
      'lines are appended under the lock',
      '(all) => withLock(lock, host, ',
      '(all) => ((_path, _host, work) => work())(0, 0, ',
    ],
    [
      'who holds users says so before',
      'const end = await acquireLock(holderPath(base, by), host);',
      'const end = () => Promise.resolve();',
    ],
    [
      'the claims tell when a license was asked for',
      'onElapsed(history, clock));',
      'onElapsed({ ...history, posted: undefined }, clock));',
    ],
    ['who could not be recorded is not given back', 'unrecorded.add(user);', ''],
    ['an open answer is given back open', 'recorded.filter((user) => shown?.has(user))', 'recorded'],
  ]),
  ...inFile('ensure', 'store/claims.ts', [
    ['whoever finds users held waits', 'if (count === 0) return seen;', 'if (count >= 0) return seen;'],
  ]),
  ...inFile('ensure', 'store/lock/request-record.ts', [
    ['users of a dead process count as asked now', 'if (hold && hold.by !== next.by)', 'if (time < 0)'],
    [
      'what is given back leaves when it was asked for',
      'const later = Math.max(until, line.time + (hold?.remember ?? 0));',
      'const later = until;',
    ],
    [
      'compaction keeps what is known',
      '{ user, hold, job, history: kept, until }',
      '{ user, hold, job, history: noRequests, until }',
    ],
    [
      'compaction keeps who holds users',
      '{ user, hold, job, history: kept, until }',
      '{ user, job, history: kept, until }',
    ],
  ]),
  ...inFile('ensure', 'store/request-history.ts', [
    [
      'an answer stays open until a list shows it',
      'answer: { status: event.status, time, key_end: event.key_end }, size_before',
      'size_before',
    ],
    [
      'an answer stays though the license is asked for again',
      'unanswered: event.unanswered, answer, size_before',
      'unanswered: event.unanswered, size_before',
    ],
  ]),
  ...inFile('ensure', 'store/lock/lock.ts', [
    [
      'the lock of a dead owner is cleared away',
      'owner && (await holderOf(owner, me, system));\n  if',
      'owner && { name: "somebody", isSeen: true };\n  if',
    ],
    [
      'a lock without content is that of a dead owner',
      '{ pid: 0, token: brokenToken(await stat(path)) }',
      '{ pid: 1, token: brokenToken(await stat(path)) }',
    ],
    [
      'an error of the disk that passes does not move the claims',
      'if (!isLasting(cause)) throw storageFailure(`cannot write into ${folder}`, cause);',
      '',
    ],
  ]),
  ...inFile('ensure', 'store/disk/owner.ts', [
    ['a zombie is gone', '/^[ZX]/.test(afterName(line))', 'false'],
    ['a later process with the same id is another one', 'startIn(line) !== owner.start || ', ''],
    ['an owner of an earlier boot is gone', "isEarlier && isHere ? 'gone' : 'unseen'", "'unseen'"],
    [
      'a computer that cannot be marked for now is no computer without a mark',
      'if (!isUnsafe && !isLasting(cause)) throw',
      'if (false) throw',
    ],
    ['the mark of the computer is synced', '  await syncFolder(folder);\n  return mark;', '  return mark;'],
  ]),
  ...inFile('ensure', 'store/disk/private.ts', [
    ['a new folder is synced into its parent', '  await syncFolder(parent);', ''],
  ]),
  ...inFile('ensure', 'store/disk/files.ts', [
    [
      'the content of a file is synced before its name',
      '      await file.sync();\n      return result;',
      '      return result;',
    ],
    ['a name is synced', '  await syncFolder(dirname(to));', ''],
  ]),
  ...inFile('ensure', 'store/queue.ts', [
    ['n requests have n times --settle', 'since + all * Math.max(', 'since + Math.max('],
    ['what was shown counts', "since: what === 'not carried out' ||", "since: what !== 'left' ||"],
    ['while one is pending no other is sent', 'if (pending > 0) await wait(', 'if (pending > Infinity) await wait('],
    ['a server stays slow for a minute', 'const slowFor: Milliseconds = 60_000;', 'const slowFor: Milliseconds = 0;'],
    [
      'what is left other runs see',
      'const places = [memoryPlace(elapsed), ...shared];',
      'const places = [memoryPlace(elapsed)];',
    ],
  ]),
  ...inFile('apply', 'store/lock/local-claims.ts', [
    [
      'who holds users says so after a power cut too',
      'await orFailure(`write ${base}`, syncFolder(dirname(base)));',
      '',
    ],
    ['what a dead run left is counted when its users are claimed', 'if (isStale) await queue.findDead(settle);', ''],
  ]),
  ...inFile('apply', 'store/lock/local-queue.ts', [
    [
      'each POST that a dead run had under way counts',
      "const more = '.'.repeat(Math.max(0, sending - told));",
      "const more = '.'.repeat(Math.max(0, Math.min(1, sending) - told));",
    ],
  ]),
  ...inFile('apply', 'store/queue.ts', [
    ['what a stopped run has under way counts', 'posts + underWay);', 'posts);'],
    ['requests that are no POST count too', 'others: posts > 0 ? silent.others : load(), settle', 'others: 0, settle'],
    [
      'what dead runs have left counts for those who come behind it',
      'for (const place of shared) await orWarn(place.findDead(settle), warn, unknown);',
      '',
    ],
  ]),
  ...inFile('ensure', 'store/disk/records.ts', [
    ['a line that is not what was written does not count', 'isWhole: sum === sumOf(body)', 'isWhole: true'],
  ]),
  ...inFile('apply', 'jobs/license/settle.ts', [
    [
      'who got more than one POST is looked up once more',
      "if (step.do === 'create' && one.posted !== undefined) resent.add(one.asked);",
      '',
    ],
  ]),
  ...inFile('ensure', 'jobs/license/server-queue.ts', [
    [
      'a lost answer is looked for until --settle is over',
      'const isLast = elapsed() >= until;',
      'const isLast = true;',
    ],
  ]),
  ...inFile('ensure', 'jobs/license/case.ts', [
    [
      '--settle after the last request the list is read again',
      'if (ended === undefined) return undefined;',
      'if (one.posted === undefined) return undefined;',
    ],
    ['a lost answer is settled --settle after it', 'isAnswered(one) ? ended + settle :', 'isAnswered(one) ? ended :'],
    ['a repeat is sent only where the list shows nothing', '  if (refusal) return failed(one, refusal);\n', ''],
    ['a key is given out of the license that is listed', 'if (!only) return undefined;', 'return undefined;'],
    [
      'what a lagging list does not show is looked for once more',
      "if (by === 'list' || (!isSettled && !isShown))",
      "if (by === 'list' || (!isSettled && !isShown && !isAnswered(one)))",
    ],
    [
      'what was answered is never sent again',
      "  if (isAnswered(one)) return failed(one, refusal ?? { is: 'not shown' });\n",
      '',
    ],
  ]),
  ...inFile('ensure', 'jobs/license/give-license.ts', [
    ['an answer is recorded at once', 'ended(row, endOf(creation, now(), 0))', 'Promise.resolve()'],
  ]),
  ...inFile('ensure', 'jobs/license/case.ts', [
    [
      'what the history has is not created again',
      "if (one.known && posted === undefined && rules.recreate === 'refuse' && !isAgain)",
      'if (one.known && posted === Infinity)',
    ],
  ]),
  ...inFile('ledger', 'jobs/license/roster-run.ts', [
    ['a row that is right, and whose answer is open, is told to the history', ' && !answerOf(row);', ';'],
  ]),
  ...inFile('ledger', 'store/record/creations.ts', [
    ['what other computers created is known', 'const entries = await place.told(user);', 'const entries = [];'],
  ]),
  ...inFile('ensure', 'store/disk/records.ts', [
    [
      'a line of the history is synced',
      "    await file.datasync();\n    if (end === 'nothing')",
      "    if (end === 'nothing')",
    ],
    ['a new history is synced into its folder', "    if (end === 'nothing') await syncFolder(dirname(path));\n", ''],
  ]),
  ...inFile('ensure', 'jobs/license/case.ts', [
    [
      'what was answered and is shown is not unknown',
      "const { job = 'unchanged' } = requests;",
      "if (requests.answer) return { do: 'end', outcome: 'unknown', why: { is: 'stopped' } };\n  const { job = 'unchanged' } = requests;",
    ],
  ]),
  ...inFile('ensure', 'jobs/license/outcome.ts', [
    ['the history tells of an answer that a later list shows', '!(isSent(one) || isOpen)', '!isSent(one)'],
    ['the history tells what was created', "if (status === 'failed' || ", "if (status !== 'failed' || "],
  ]),
  ...inFile('ensure', 'jobs/license/case.ts', [
    [
      'what was answered is looked for at once',
      "due: 'with others', deciding: { since: posted, until } };",
      'due: settled, deciding: { since: settled, until } };',
    ],
    [
      'a license that was created is not unknown',
      "if (others.length === 0 && fits(only)) return { do: 'end', outcome: 'created', license: only, licenses };",
      "if (others.length === 0 && fits(only)) return { do: 'end', outcome: 'unknown', why: { is: 'stopped', failure: undefined } };",
    ],
  ]),
  ...inFile('create', 'jobs/license/case.ts', [
    [
      'what create made, and a list shows, is not unknown',
      "if (others.length === 0 && fits(only)) return { do: 'end', outcome: 'created', license: only, licenses };",
      "if (others.length === 0 && fits(only)) return { do: 'end', outcome: 'unknown', why: { is: 'stopped', failure: undefined } };",
    ],
    [
      'another license is one that was not there before',
      'licenses.find((license) => hasKeyOf(answered, license))',
      'licenses[0]',
    ],
  ]),
  ...inFile('ensure', 'api/licensing/user-licenses.ts', [
    [
      'a filter that finds parts of names is told from a server that changes names',
      "if (!again && (await findsParts(listed, asked, rows))) filter.finds = 'parts';",
      '',
    ],
  ]),
  ...inFile('ensure', 'api/licensing/license.ts', [
    [
      'a listed key with a sign in it is a part of one',
      'key_is === undefined && license.key !== undefined && isMasked(license.key)',
      'false',
    ],
    [
      'a part of a key is its beginning or its end',
      '(answered.startsWith(listed) || answered.endsWith(listed))',
      'answered !== ""',
    ],
  ]),
  ...inFile('ensure', 'api/licensing/license-writes.ts', [
    [
      'an answer to a change is about the license that was to be changed',
      'const differences = signs.length > 0 ? signs : ',
      'const differences = ',
    ],
    [
      'an answer with another license is not the one that was asked for',
      'license !== undefined && differencesFrom(asked, license).length > 0',
      'false',
    ],
  ]),
  ...inFile('apply', 'jobs/license/perform.ts', [
    [
      'a lookup of a row that first shows that the filter is ignored decides nothing',
      "isMoving ? 'moving list' : 'filter'",
      "isMoving ? 'filter' : 'filter'",
    ],
  ]),
  ...inFile('apply', 'jobs/license/roster-job.ts', [
    ['a row that was asked for waits', 'posted, job:', 'posted: undefined, job:'],
  ]),
  ...inFile('apply', 'jobs/license/share-roster.ts', [
    [
      'a row that another process holds is left to it',
      'const isHeld = others.has(row.remote_user);',
      'const isHeld = false;',
    ],
    [
      'the record of a row is read with its claim',
      'taken.histories.get(row.remote_user) ?? noRequests;',
      'noRequests;',
    ],
  ]),
  ...inFile('ledger', 'store/ledger/ledger-claims.ts', [
    [
      'the ledger has a POST before it is sent',
      "const written = session.call('sending', values, { signal, limit: shortLimit });",
      'const written = Promise.resolve(values);',
    ],
    ['a POST that was sent is given back with its user', '      sent.add(user);\n', ''],
    ['the ledger has an answer at once', '      await recordAnswer([user, { status, time, key_end }]);\n', ''],
  ]),
  ...inFile('ledger', 'store/ledger/ledger-queue.ts', [
    [
      'what a session that has ended left is counted',
      'state: afterDeaths(state ?? emptyQueue, now, dead)',
      'state: state ?? emptyQueue',
    ],
    [
      'of all sessions one has the turn',
      'true], limits)) !== true) return undefined;',
      'true], limits)) === undefined) return undefined;',
    ],
  ]),
  ...inFile('ledger', 'store/joint-claims.ts', [
    [
      'what a ledger knows of a user counts',
      'histories: joinAll(shiftAll(here.histories, taken.now - here.now), taken.histories),',
      'histories: shiftAll(here.histories, taken.now - here.now),',
    ],
  ]),
  ...inFile('rename', 'jobs/license/given-names.ts', [
    [
      'a name that another run has is not given',
      'const taker = held.includes(remote_user) ? holder : undefined;',
      'const taker = undefined;',
    ],
    ['a name that was asked for a moment ago is waited for', 'if (wait > 0) {', 'if (wait > Infinity) {'],
  ]),
  ...inFile('rename', 'commands/license/rename.ts', [
    [
      'a license that got another name meanwhile is none of the run',
      'listed !== undefined && fieldsOf(userOf(listed)).remote_user === name',
      'listed !== undefined',
    ],
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
    ['what is printed as changed was sent', 'isLeft ? found : api.update(', 'code ? found : api.update('],
  ]),
  ...inFile('purge', 'jobs/topic/purge-requests.ts', [
    ['what a look shows is archived before its call', 'await archive?.add(unkept);', ''],
    [
      'what has come since is archived too',
      'await archive?.add(fresh.filter((message) => archive.lacks(message)));',
      '',
    ],
  ]),
  ...inFile('purge', 'jobs/topic/purge-topic.ts', [
    [
      'an archive that is taken away ends the run',
      'await this.#archive?.confirm();\n      await this.#archive?.record',
      'await this.#archive?.record',
    ],
    [
      'that a call is asked is recorded before it is sent',
      "      await this.#archive?.record({ call: 'asked' });\n",
      '',
    ],
    ['what is held is looked for before each call', 'if (hold) throw heldTopic(this.survey, hold);', ''],
    [
      'a purge without a fault does not wait',
      'const level = await this.#chat.level();',
      'await this.#parts.sleep(30_000);\n    const level = await this.#chat.level();',
    ],
  ]),
  ...inFile('purge', 'jobs/topic/purge-topic.ts', [
    ['after a failure a purge waits as long as a retry', 'sleep(backoff(', 'sleep(30_000 + backoff('],
    [
      'the history counts what was deleted, and not what was surveyed',
      ': { deleted, unseen,',
      ': { deleted: this.survey.ids.length, unseen,',
    ],
  ]),
  ...inFile('purge', 'jobs/topic/purge-requests.ts', [
    ['a call before which the disk fails was not sent', 'if (!call.isSent || !(cause', 'if (!(cause'],
  ]),
  ...inFile('purge', 'jobs/topic/purge-archive.ts', [['a reaction is a version of its own', "'reactions', ", '']]),
  ...inFile('purge', 'jobs/topic/purge-state.ts', [
    ['a round in which nothing went counts', 'call.withoutProgress + (call.isLooked ? 0 : 1)', '0'],
    ['a look is three times as deep as what went', '3 * Math.max(gone, look.mostGone)', 'gone'],
    [
      'after a call that went deeper than its look the whole topic is read',
      'return look.from === -Infinity ||',
      'return true ||',
    ],
    [
      'only an answered call deletes',
      'return call && isAnswered(call.end) && !call.isAfterBroken',
      'return call && !call.isAfterBroken',
    ],
    ['what goes while a newer message stays is unseen', 'id > stayed && call.before.has(id)', 'call.before.has(id)'],
    ['what no look before the call showed is unseen', 'id > stayed && call.before.has(id)', 'id > stayed'],
    [
      'what goes in the first answered call after a 500 is unseen',
      'return call && isAnswered(call.end) && !call.isAfterBroken',
      'return call && isAnswered(call.end)',
    ],
    ['what goes after a look that no call followed is unseen', 'call?.isLooked === false ?', 'call ?'],
    ['what a call took below its look is named', 'look && first !== undefined &&', 'look && first === undefined &&'],
    ['what is found elsewhere counts', "[found, 'elsewhere']", "[[], 'elsewhere']"],
  ]),
  ...inFile('purge', 'jobs/topic/purge-requests.ts', [
    [
      'messages that are gone are asked for by their ids',
      '(await findsByIds(chat)) ? gone : sampleOf(gone)',
      '(await findsByIds(chat)) ? [] : sampleOf(gone)',
    ],
    ['of what a sample did not ask for nothing is concluded', 'gone.filter((id) => !asked.has(id))', '[]'],
  ]),
  ...inFile('purge', 'jobs/topic/holds.ts', [
    [
      'a hold is of its topic in any case, resolved or not',
      'isSameTopic(unmarked(name), unmarked(topic))',
      'name === topic',
    ],
    ['a hold whose messages are in no channel bars the channel', 'lost.get(survey.channel.stream_id)', 'undefined'],
  ]),
  ...inFile('purge', 'jobs/messages/messages-by-ids.ts', [
    ['private channels are asked too', 'if (open.delete(message.id))', 'if (message.id < 0)'],
  ]),
  ...inFile('purge', 'store/archive/open-archive.ts', [
    ['nothing is written into what stands in the place of an archive', 'if (!(await isInPlace()))', 'if (!folder)'],
  ]),
  ...inFile('archive', 'jobs/archive/pull-order.ts', [
    [
      'an archive goes on with the id of its channel',
      "return typeof operand === 'number' ?",
      'return operand === null ?',
    ],
  ]),
  ...inFile('archive', 'jobs/archive/pull-pages.ts', [
    ['what becomes visible out of order is looked for', 'last - outOfOrder + 1', 'last + 1'],
    ['a recheck compares the whole selection', 'isWhole ? start :', ''],
  ]),
  ...inFile('archive', 'jobs/messages/places.ts', [
    ['a page whose messages are renamed is read again', 'page = await chat.messages(query, limits);\n    }', '}'],
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
    ['a file that the server no longer has is named once', 'if (record && !isKnown) {', 'if (record) {'],
    [
      'files of later versions of messages are kept',
      'parts.flatMap(({ attached }) => attached), ...later])',
      'parts.flatMap(({ attached }) => attached)])',
    ],
    [
      'whoever cannot keep each file says so',
      'if (refused.length > 0) untilWritten(',
      'if (refused.length > Infinity) untilWritten(',
    ],
    ['a file that the server no longer has is no failure', "lacking.filter(({ why }) => why === 'failed')", 'lacking'],
    ['the line of a kept file is recorded', '      await archive.recordFile(record);\n', ''],
  ]),
  ...inFile('files', 'api/chat/uploads.ts', [
    ['a page to sign in is no file', "return 'the server returned an HTML page';", 'return undefined;'],
    ['a server in trouble refuses no file', 'if (isTrouble(answer.status))', 'if (answer.status === 0)'],
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
    ['a line of an archive is synced', '        await target.datasync();\n', ''],
  ]),
  ...inFile('files', 'store/archive/open-archive.ts', [
    ['what a disk may not have is not sealed', 'if (!isOnDisk || !own.manifest) return;', 'if (!own.manifest) return;'],
  ]),
  ...inFile('rosters', 'commands/roster.ts', [
    [
      'each application has a key of its own',
      'const api = known.get(app_code) ?? context',
      'const api = [...known.values()][0] ?? context',
    ],
  ]),
  ...inFile('rosters', 'jobs/license/circuit-breaker.ts', [
    ['a refused key ends a roster', "new Set(['auth', 'config',", "new Set(['config',"],
  ]),
  ...inFile('rosters', 'jobs/license/run-ledgers.ts', [
    [
      'users of two applications are claimed apart',
      'const local = await openClaims(target, host,',
      'const local = await openClaims(targetOf(account, 0), host,',
    ],
  ]),
  ...inFile('rosters', 'commands/license/apply-run.ts', [
    [
      'a row is told to the history of its application',
      'recorders.get(event.app_code ?? NaN)?.record(event)',
      '[...recorders.values()][0]?.record(event)',
    ],
  ]),
  ...inFile('rosters', 'jobs/license/share-roster.ts', [
    [
      'rows of each application are given back',
      'const given = rows.filter(({ app_code }) => app_code === code);',
      'const given = rows.filter(({ app_code }) => app_code === code && code === 4711);',
    ],
  ]),
  ...inFile('rosters', 'jobs/license/license-user.ts', [
    ['a row is one of its application', 'return `${app_code} ${remote_user}`;', 'return `${remote_user}`;'],
  ]),
  ...inFile('ensure', 'store/lock/lock.ts', [
    ["a lock that an error of the disk left is nobody's", '    setOf(abandoned, system).add(me.token);\n', ''],
  ]),
  ...inFile('ensure', 'store/request-history.ts', [
    [
      'a moment in the future, after the clock was set back, counts as now',
      'Math.max(0, now() - posted)',
      '(now() - posted)',
    ],
  ]),
  ...inFile('ensure', 'store/lock/lock.ts', [
    [
      'a lock that is given back is removed',
      '  if ((await ownerOf(path))?.token === me.token) await remove(path);\n}',
      "  if (path.endsWith('.holder') && (await ownerOf(path))?.token === me.token) await remove(path);\n}",
    ],
  ]),
  ...inFile('retire', 'output/write.ts', [
    ['a write whose output fails waits for its work', '    if (isWrite) await stopped;\n', ''],
  ]),
  ...inFile('ensure', 'store/lock/lock.ts', [
    [
      'a lock that is cleared away is free at once',
      '  const conflict = owner && (await removeStale(path, owner, me, system));\n',
      "  const conflict = owner && (await removeStale(path, owner, me, system));\n  if (owner) throw new Failure('unavailable', 'it was that of a dead process', {});\n",
    ],
  ]),
  ...inFile('ensure', 'api/http/connect.ts', [
    [
      'an old answer of a cache is asked for again',
      'madeAt(answer, sent, call.keyMade) < since',
      'madeAt(answer, sent, call.keyMade) < -Infinity',
    ],
  ]),
  ...inFile('purges', 'jobs/topic/purge-run.ts', [
    [
      'a purge of two topics goes on with what its file has',
      'const steps = (file?.steps ?? []).filter(',
      'const steps = ([] as unknown[]).filter(',
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
