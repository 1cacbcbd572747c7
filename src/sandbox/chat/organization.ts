import type { Organization } from '../records.ts';

/** How the empty topic is shown to clients that do not know it (`realm_empty_topic_display_name`). */
export const emptyTopicName = 'general chat';

/** The organization of the sample data, and of a state that has none. */
export const fallbackOrganization: Organization = {
  name: 'Harbour Motion',
  description: '<p>The team behind the Harbour Motion apps. Everything here is sample data of the sandbox.</p>',
  realm_str: 'harbour',
  one_of_many: false,
  deactivated: false,
  name_changes_disabled: false,
  email_changes_disabled: false,
  unique_names: false,
  passwords_in_ldap: false,
  email_domains: [],
  edit_history_visible: true,
  first_visible_message_id: 0,
};
