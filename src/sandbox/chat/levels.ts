/** The newest level that docs/apis.md describes; the sandbox has it unless another is asked for. */
export const defaultLevel = 489;

/** Feature levels at which the chat service changed, by what came or went (docs/apis.md, Feature levels). */
export const levels = {
  levelIsNamed: 1,
  shortNamesEnd: 26,
  rateLimitCode: 36,
  topicLinkObjects: 46,
  plainLanguageAndSound: 63,
  plainStrings: 64,
  errorCodes: 76,
  mergeBase: 88,
  clientGravatar: 92,
  webPublicAccess: 116,
  topicsInEditHistory: 118,
  includeAnchor: 155,
  ignoredParameters: 167,
  noRealmNameInNotifications: 168,
  dmOperators: 177,
  integerIds: 194,
  splitWildcardMentions: 224,
  desktopIconCount: 227,
  hasReaction: 249,
  channelOperators: 250,
  realmUrl: 257,
  isFollowed: 265,
  withOperator: 271,
  noRenderedVersion: 284,
  savedSnippets: 297,
  optionalCounts: 300,
  messageIds: 300,
  noReactionUser: 328,
  emptyTopic: 334,
  noDenseMode: 364,
  moveTimes: 365,
  isMuted: 366,
  snippetEditing: 368,
  listOfTopics: 383,
  navigationViews: 390,
  topUnreadTopic: 401,
  channelFolders: 431,
  targetUsers: 444,
  dateAnchor: 445,
  mentionsOperator: 446,
  rateLimitPage: 450,
  recentView: 454,
  emptyWithoutAccess: 460,
  archivedChannels: 489,
} as const;

/**
 * The field that names parameters which the endpoint does not know. Settings have it since level 78, the others since 167
 * (docs/apis.md, Parameters).
 */
export function ignoredField(
  level: number,
  since: number,
  names: readonly string[],
): { readonly ignored_parameters_unsupported?: readonly string[] } {
  return names.length > 0 && level >= since ? { ignored_parameters_unsupported: names } : {};
}

export const ignoredSince = { settings: 78, others: levels.ignoredParameters } as const;
