/** The warning of every command that shows an archive of a limited history. */
export const limitedHistory =
  'the history is cut by the plan of the organization: older messages exist that the archive does not hold';
