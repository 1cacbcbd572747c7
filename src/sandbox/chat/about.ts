import type { Call, UserCall } from './routes.ts';
import { avatarOf } from './avatar.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { readParameters } from './parameters.ts';

/** Releases by the level that they brought (facts page, calendar). */
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

/** GET /server_settings: needs no credentials; levels below 1 do not name themselves (facts page, section 2). */
export function aboutServer({ level, origin, organization }: Call) {
  const version = releases.find(([since]) => level >= since)?.[1] ?? '2.1.8';
  return {
    authentication_methods: { password: true, email: true, ldap: false, google: false, github: false, saml: false },
    zulip_version: version,
    ...(level >= 1 ? { zulip_feature_level: level, zulip_merge_base: version } : {}),
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    realm_uri: origin(),
    ...(level >= 257 ? { realm_url: origin() } : {}),
    realm_name: organization.name,
    realm_icon: `${origin()}/static/icon.png`,
    realm_description: organization.description,
    realm_web_public_access_enabled: false,
    external_authentication_methods: [],
  };
}

/** GET /users/me: what a client needs to read its own changes back. */
export function aboutMe({ user, request, level }: UserCall) {
  const { ignored } = readParameters(request, {});
  return {
    user_id: user.user_id,
    email: user.email,
    delivery_email: user.email,
    full_name: user.full_name,
    is_admin: user.role === 'administrator',
    is_owner: false,
    is_guest: user.role === 'guest',
    is_bot: user.bot !== 'none',
    is_active: user.active,
    role: { administrator: 200, member: 400, guest: 600 }[user.role],
    timezone: user.settings['timezone'] ?? '',
    avatar_url: avatarOf(user),
    avatar_version: 1,
    date_joined: new Date(user.joined * 1000).toISOString(),
    profile_data: {},
    ...ignoredField(level, ignoredSince.others, ignored),
  };
}
