/** Text of the dialog that invites users. */

export const invite = {
  open: 'Invite people',
  title: 'Invite people',
  text: 'Each gets an account and a link to sign in with for the first time.',
  addresses: 'E-mail addresses',
  addressesHint:
    'One per line, or the rows of a spreadsheet: the column with the addresses is used, the rest is ignored.',
  file: 'Or read them from a file (CSV or text):',
  fileUnreadable: 'This file is not text, or larger than 8 MB. Export the list as CSV and choose that file.',
  column: '{count, number} columns have addresses. Which one counts?',
  chooseColumn: 'Choose a column',
  allColumns: 'All columns',
  rejected:
    '{count, plural, one {# line has no address and is left out:} other {# lines have no address and are left out:}}',
  language: 'Language of the mail:',
  found: '{count, plural, =0 {No address yet} one {# address} other {# addresses}}',
  how: 'How they get their link',
  send: 'Mail it to them',
  show: 'Show the links, to be passed on by hand',
  confirm: '{count, plural, =0 {Invite} one {Invite # person} other {Invite # people}}',
  busy: 'Inviting…',
  done: '{count, plural, =0 {No one was invited.} one {# person is invited.} other {# people are invited.}}',
  refused:
    '{count, plural, one {# address was not invited: it is listed first.} other {# addresses were not invited: they are listed first.}}',
  secret: 'Anyone who has a link can use it. The links are shown only here, once.',
  results: 'Result for each address',
  address: 'Address',
  result: 'Result',
  copyAll: 'Copy all links',
  copiedAll: 'All links are copied',
  copyOf: 'Copy the link of {email}',
  more: 'Invite more',
  statuses: {
    invited: 'Invited',
    'already-registered': 'Has an account already',
    invalid: 'Not an e-mail address',
    failed: 'The mail was not accepted. Try again.',
    waiting: 'Not invited',
  },
} as const
