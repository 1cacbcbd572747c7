/** The folder of an archive as an argument. */
export const folderArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'DIR',
  help: 'Folder of the archive',
} as const;
