/** Text of the audited actions, by their names. */

export const action = {
  user: {
    block: 'Account blocked',
    unblock: 'Account unblocked',
    delete: 'Account deleted',
    promote: 'Administrator rights given',
    demote: 'Administrator rights taken',
    takeover: 'Account taken over',
    'end-takeover': 'Takeover ended',
    invite: 'Invited',
    'invite-failed': 'Invitation not mailed',
    'resend-verification': 'Signup link sent again',
    'resend-verification-failed': 'Signup link not mailed',
  },
  group: {
    create: 'Group made',
    change: 'Group changed',
    delete: 'Group deleted',
    'add-member': 'Added to a group',
    'remove-member': 'Removed from a group',
    invite: 'Invited to a group',
    'invite-failed': 'Invitation to a group not mailed',
    join: 'Joined a group',
    'create-join-code': 'Join code made',
    'delete-join-code': 'Join code removed',
    start: 'Containers of a group started',
    'restart-container': 'Container of a member restarted',
    'read-failure': 'Failed start of a member read',
    end: 'Group ended',
    stop: 'Containers of a group stopped',
    block: 'Containers of a group blocked',
    unblock: 'Containers of a group unblocked',
  },
  container: {
    block: 'Container blocked',
    unblock: 'Container unblocked',
    delete: 'Container deleted',
    share: 'Container shared',
    unshare: 'Share ended',
    stop: 'Container stopped',
  },
  token: { create: 'API token made', use: 'API token used', remove: 'API token removed' },
  keys: { rotate: 'New signing key' },
  templates: { reload: 'Templates read again', update: 'Containers updated' },
  link: { print: 'Link printed' },
} as const

export const sentence = {
  user: {
    block:
      '<b>{actor}</b> blocked <b>{person}</b>{containers, plural, =0 {} one { and one container} other { and # containers}}',
    unblock:
      '<b>{actor}</b> unblocked <b>{person}</b>{containers, plural, =0 {} one { and one container} other { and # containers}}',
    delete: '<b>{actor}</b> deleted the account of <b>{person}</b>',
    promote: '<b>{actor}</b> gave <b>{person}</b> administrator rights',
    demote: '<b>{actor}</b> took administrator rights from <b>{person}</b>',
    takeover: '<b>{actor}</b> took over the account of <b>{person}</b>',
    'end-takeover': '<b>{actor}</b> stopped acting for <b>{person}</b>',
    invite: '<b>{actor}</b> invited <b>{person}</b>',
    'invite-failed': '<b>{actor}</b> invited <b>{person}</b>, but the mail was not accepted',
    'resend-verification': '<b>{actor}</b> sent <b>{person}</b> another signup link',
    'resend-verification-failed':
      '<b>{actor}</b> sent <b>{person}</b> another signup link, but the mail was not accepted',
  },
  group: {
    create: '<b>{actor}</b> made <b>{group}</b>',
    change: '<b>{actor}</b> changed <b>{group}</b>',
    delete: '<b>{actor}</b> deleted <b>{group}</b>',
    'add-member': '<b>{actor}</b> added <b>{person}</b> to <b>{group}</b>, or changed the role there',
    'remove-member': '<b>{actor}</b> removed <b>{person}</b> from <b>{group}</b>',
    invite: '<b>{actor}</b> invited <b>{person}</b> to <b>{group}</b>',
    'invite-failed': '<b>{actor}</b> invited <b>{person}</b> to <b>{group}</b>, but the mail was not accepted',
    join: '<b>{actor}</b> joined <b>{group}</b>',
    'create-join-code': '<b>{actor}</b> made a join code for <b>{group}</b>',
    'delete-join-code': '<b>{actor}</b> removed the join code of <b>{group}</b>',
    start: '<b>{actor}</b> started containers of <b>{group}</b>',
    'restart-container': '<b>{actor}</b> restarted the container of <b>{person}</b> in <b>{group}</b>',
    'read-failure': '<b>{actor}</b> read why a container of <b>{person}</b> in <b>{group}</b> did not start',
    end: '<b>{actor}</b> ended <b>{group}</b>',
    stop: '<b>{actor}</b> stopped {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
    block: '<b>{actor}</b> blocked {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
    unblock:
      '<b>{actor}</b> unblocked {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
  },
  container: {
    block: '<b>{actor}</b> blocked <container></container>',
    unblock: '<b>{actor}</b> unblocked <container></container>',
    delete: '<b>{actor}</b> deleted <container></container>',
    stop: '<b>{actor}</b> stopped <container></container>',
  },
  token: {
    create: '<b>{actor}</b> made an API token for <b>{person}</b>',
    use: '<b>{actor}</b> used an API token of <b>{person}</b> for the first time, or after a pause',
    remove: '<b>{actor}</b> removed an API token of <b>{person}</b>',
  },
  keys: { rotate: '<b>{actor}</b> made a new signing key' },
  templates: {
    reload: '<b>{actor}</b> had the templates read again',
    update: '<b>{actor}</b> had containers of older templates brought up to date',
  },
  link: {
    print:
      '<b>{actor}</b> printed {purpose, select, signup {a signup link} other {a sign-in link}} for <b>{person}</b>',
  },
  other: '<b>{actor}</b>: {action}, {target}',
} as const
