/** A license as the licensing service keeps it. */
export interface LicenseRecord {
  readonly license_code: string;
  readonly remote_user: string;
  readonly app_code: number;
  readonly size_allowance: number;
  /** RFC 3339, UTC. */
  readonly created: string;
}

/** A sensor was activated with a license. */
export interface Activation {
  /** Hexadecimal digits in upper case, nothing between them. */
  readonly mac_address: string;
  readonly license_code: string;
  /** UNIX seconds. */
  readonly time: number;
}

export interface User {
  readonly user_id: number;
  readonly email: string;
  readonly full_name: string;
  readonly role: 'administrator' | 'member' | 'guest';
  readonly bot: 'none' | 'generic' | 'incoming webhook';
  readonly active: boolean;
  /** `email:api_key` is the credential. */
  readonly api_key: string;
  readonly password: string;
  /** Values other than the defaults, under the names on the wire. */
  readonly settings: Readonly<Record<string, boolean | number | string>>;
  /** Address that awaits confirmation. */
  readonly pending_email: string | null;
  /** A picture of the user's own, which no client can compute. */
  readonly avatar_url?: string;
  /** UNIX seconds. */
  readonly joined: number;
}

export interface ChannelRecord {
  readonly stream_id: number;
  readonly name: string;
  readonly privacy: 'web-public' | 'public' | 'private';
  /** Users who join later may read what was said before. */
  readonly shared_history: boolean;
  readonly archived: boolean;
  readonly recipient_id: number;
  /** Who receives the messages, from which message id on. */
  readonly subscribers: readonly { readonly user_id: number; readonly since: number }[];
  readonly muted_by: readonly number[];
}

export interface MessageRecord {
  readonly id: number;
  /** UNIX seconds. */
  readonly timestamp: number;
  readonly sender_id: number;
  /** The Markdown source. */
  readonly content: string;
  /** The HTML form. */
  readonly rendered: string;
  readonly client: string;
  /** Undefined for a direct message. */
  readonly stream_id?: number;
  /** The topic; empty for a direct message. */
  readonly subject: string;
  /** The place that responses show, where it is another one than narrows find it in. */
  readonly cached?: { readonly stream_id: number; readonly subject: string };
  /** Everybody in a direct conversation, the sender included. */
  readonly people?: readonly number[];
  readonly recipient_id: number;
  /** Flags by user id; who is not named has `read` alone. */
  readonly flags: Readonly<Record<number, readonly string[]>>;
  readonly reactions: readonly {
    readonly emoji_name: string;
    readonly emoji_code: string;
    readonly reaction_type: 'unicode_emoji' | 'realm_emoji' | 'zulip_extra_emoji';
    readonly user_id: number;
  }[];
  readonly edit_history?: readonly {
    readonly user_id: number | null;
    readonly timestamp: number;
    readonly prev_content?: string;
    readonly prev_rendered_content?: string;
    readonly prev_stream?: number;
    readonly stream?: number;
    readonly prev_topic?: string;
    readonly topic?: string;
  }[];
  readonly last_edit_timestamp?: number;
  readonly last_moved_timestamp?: number;
  readonly topic_links?: readonly { readonly text: string; readonly url: string }[];
}

export interface TopicPolicy {
  readonly user_id: number;
  readonly stream_id: number;
  readonly topic: string;
  readonly policy: 'muted' | 'followed';
}

export interface ViewRecord {
  readonly user_id: number;
  readonly fragment: string;
  readonly is_pinned: boolean;
  /** Null for a built-in view. */
  readonly name: string | null;
}

export interface SavedSnippet {
  readonly id: number;
  readonly user_id: number;
  readonly title: string;
  readonly content: string;
  /** UNIX seconds. */
  readonly date_created: number;
}

/** Rules of the chat organization that a test may change through `seed`. */
export interface Organization {
  readonly name: string;
  readonly description: string;
  readonly realm_str: string;
  /** True if the organization is one of several on its server, reached only as REALM_STR.localhost. */
  readonly one_of_many: boolean;
  readonly deactivated: boolean;
  readonly name_changes_disabled: boolean;
  readonly email_changes_disabled: boolean;
  readonly unique_names: boolean;
  readonly passwords_in_ldap: boolean;
  /** Addresses must be of one of these domains; empty: any. */
  readonly email_domains: readonly string[];
  readonly edit_history_visible: boolean;
  /** Older messages are hidden by the plan; 0: none. */
  readonly first_visible_message_id: number;
}
