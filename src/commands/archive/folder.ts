/** The folder of an archive as an argument. */
export const folderArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'DIR',
  help: 'Folder of the archive',
} as const;

/** The warning of every command that shows an archive of a limited history. */
export const limitedHistory =
  'the history is cut by the plan of the organization: older messages exist that the archive does not hold';
