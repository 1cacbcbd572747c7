import type { ChatCall } from './call.ts';
import { levels } from './levels.ts';

/** Releases by the level that they brought (docs/apis.md, Feature levels). */
const releases: readonly (readonly [level: number, version: string])[] = [
  [481, '12.2'],
  [460, '12.0'],
  [421, '11.4'],
  [372, '10.4'],
  [371, '10.0'],
  [277, '9.4'],
  [237, '8.5'],
  [185, '7.5'],
  [148, '6.2'],
  [115, '5.7'],
  [65, '4.11'],
  [27, '3.4'],
  [1, '3.0'],
  [0, '2.1.8'],
];

/** GET /server_settings: needs no credentials; levels below 1 do not name themselves (docs/apis.md, Feature levels). */
export function aboutServer({ level, request: { origin }, organization }: ChatCall) {
  const version = releases.find(([since]) => level >= since)?.[1] ?? '2.1.8';
  return {
    authentication_methods: { password: true, email: true, ldap: false, google: false, github: false, saml: false },
    zulip_version: version,
    ...(level >= levels.levelIsNamed ? { zulip_feature_level: level } : {}),
    ...(level >= levels.mergeBase ? { zulip_merge_base: version } : {}),
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    realm_uri: origin,
    ...(level >= levels.realmUrl ? { realm_url: origin } : {}),
    realm_name: organization.name,
    realm_icon: `${origin}/static/icon.png`,
    realm_description: organization.description,
    ...(level >= levels.webPublicAccess ? { realm_web_public_access_enabled: false } : {}),
    external_authentication_methods: [],
  };
}
