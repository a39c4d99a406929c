import type { Answer } from '@berth/api/endpoints.ts'
import { common, details, me, meAnswer, special, types, userOf, usersOf } from '../admin-list-fixtures.ts'
import { Refused, never, unreachable, type Story } from '../story.ts'

const users = '/admin/users'
const boot: Story['boot'] = { is_admin: true }
const full: Story['answers'] = { ...common, listUsers: usersOf(100_000), countUsers: { count: 100_000 } }
const some: Story['answers'] = { ...common, listUsers: usersOf(7), countUsers: { count: 7 } }

/** The server blocks all users except the last administrator. */
const bulkUsers = (isBlocked: boolean) => (): Answer<'bulkBlockUsers'> => ({
  message: 'Done.',
  users: [userOf(2, { is_blocked: isBlocked }), userOf(5, { is_blocked: isBlocked })],
  not_found: [6],
  refused: [{ id: 4, error: 'This is the last administrator who is not blocked.' }],
})
const preview: Answer<'previewBlock'> = {
  sessions: 0,
  containers: [
    { id: 16, container_type: 'dev', is_running: true, is_blocked: false },
    { id: 17, container_type: 'prod', is_running: false, is_blocked: false },
    { id: 18, container_type: 'gpu', is_running: false, is_blocked: true },
  ],
}
const second = 'Actions for chloe@students.example'
const third = 'Actions for dmitri@students.example'
const invited: Answer<'invite'> = {
  message: '2 people were invited.',
  invitations: [
    { email: 'new@students.example', status: 'invited', link: 'https://berth.example/verify-signup?token=abc' },
    { email: 'also-new@students.example', status: 'invited', link: 'https://berth.example/verify-signup?token=def' },
    { email: 'anna@students.example', status: 'already-registered' },
    { email: 'nonsense', status: 'invalid' },
    { email: 'late@students.example', status: 'failed' },
  ],
}

const story = (name: string, answers: NonNullable<Story['answers']>, press: readonly string[] = []): Story => ({
  name: `users/${name}`,
  path: users,
  boot,
  answers,
  press,
})

/** The table of users, and its dialogs. */
export const userStories: readonly Story[] = [
  story('full', full),
  { name: 'users/sorted', path: `${users}?sort=-last_used`, boot, answers: full },
  { name: 'users/filtered', path: `${users}?q=student&state=active&is_blocked=false`, boot, answers: some },
  story('few', some),
  story('loading', { ...common, listUsers: never, countUsers: never }),
  {
    name: 'users/no-match',
    path: `${users}?q=nobody+has+this+name`,
    boot,
    answers: { ...common, listUsers: { users: [], next_cursor: null }, countUsers: { count: 0 } },
  },
  story('failed', {
    ...common,
    listUsers: new Refused(400, 'The cursor is not one of this list.'),
    countUsers: { count: 7 },
  }),
  story('unreachable', { me: meAnswer, listContainers: types, listUsers: unreachable, countUsers: unreachable }),
  story('next-page-failed', {
    ...common,
    listUsers: (request) =>
      request.url.includes('cursor=')
        ? new Refused(400, 'The cursor is not one of this list.')
        : { users: [...special], next_cursor: 'x' },
    countUsers: { count: 4_213 },
  }),
  {
    name: 'users/forbidden',
    path: users,
    answers: {
      me: { ...meAnswer, user: { ...me, is_admin: false } },
      listContainers: types,
      listUsers: new Refused(403, 'Only administrators may do this.'),
      countUsers: new Refused(403, 'Only administrators may do this.'),
    },
  },
  story('selected', full, ['Select chloe@students.example', 'Select elif@students.example']),
  story('selected-all', full, ['Select all rows that are loaded', 'Select all 100,000 that match']),
  story('bulk-confirm', some, ['Select all rows that are loaded', 'Block']),
  story('bulk-running', { ...full, bulkBlockUsers: never }, [
    'Select all rows that are loaded',
    'Select all 100,000 that match',
    'Block',
    'Block',
  ]),
  story('bulk-done', { ...some, bulkBlockUsers: bulkUsers(true), bulkUnblockUsers: bulkUsers(false) }, [
    'Select all rows that are loaded',
    'Block',
    'Block',
  ]),
  story('menu', full, [second]),
  story('menu-self', full, ['Actions for ada@faculty.example']),
  story('details', { ...full, ...details }, ['dmitri@students.example']),
  story('extra-disk', { ...full, ...details }, ['dmitri@students.example', 'ChangeChange the extra disk']),
  story('block', { ...full, previewBlock: preview }, ['Actions for chloe@students.example', 'Block']),
  story(
    'block-refused',
    {
      ...full,
      previewBlock: { sessions: 2, containers: [] },
      blockUser: new Refused(
        409,
        'This is the last administrator who is not blocked. Make another user an administrator first.',
      ),
    },
    ['Actions for elif@students.example', 'Block', 'Block'],
  ),
  story(
    'blocked',
    {
      ...full,
      previewBlock: preview,
      blockUser: { message: 'Blocked.', user: userOf(2, { is_blocked: true }) },
    },
    ['Actions for chloe@students.example', 'Block', 'Block'],
  ),
  story('blocking', { ...full, previewBlock: preview, blockUser: never }, [second, 'Block', 'Block']),
  story('unblock', full, [third, 'Unblock']),
  story('unblocked', { ...full, unblockUser: { message: 'Unblocked.', user: userOf(3) } }, [
    third,
    'Unblock',
    'Unblock',
  ]),
  story('take-over', full, [third, 'Act for them', 'Reason = The simulation does not start, as you wrote.']),
  story('promote', full, [third, 'Make administrator']),
  story('demote', full, ['Actions for elif@students.example', 'Remove as administrator']),
  story('delete', full, [third, 'Delete', 'Type dmitri@students.example to confirm = dmitri@students.example']),
  story('invite', full, ['Invite people']),
  story('invite-rows', full, [
    'Invite people',
    'E-mail addresses = name;email;class\nAnn Arbor;ann@students.example;7b\nDora Doe;;7b\n"Brown, Bob";bob@students.example;7b',
  ]),
  story('invite-columns', full, [
    'Invite people',
    'E-mail addresses = name;student;parent\nAnn Arbor;ann@students.example;arbor@example.org\nBob Brown;bob@students.example;brown@example.org',
  ]),
  story('invited', { ...full, invite: invited }, [
    'Invite people',
    'E-mail addresses = new@students.example',
    'Show the links, to be passed on by hand',
    'Invite 1 person',
  ]),
]
