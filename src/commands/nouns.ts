/** What the commands of a noun have in common. */
export const nouns: Readonly<Record<string, string>> = {
  license: 'License keys of an application: one for each end user',
  'first-activation': 'Which license activated a sensor first',
  settings: "The chat account's own settings",
  messages: 'Messages of the team chat',
  archive: 'Messages kept in a folder',
  topic: 'Topics of the team chat',
  view: 'Navigation views of the team chat',
  snippet: 'Saved snippets of the team chat',
  ledger: 'Claims that several machines share in PostgreSQL',
  auth: 'Stored credentials',
  api: 'Any request to one of the two APIs',
  sandbox: 'Both services on this machine, for trying and testing',
};
