import type { Answer } from '@berth/api/endpoints.ts'
import { common, me, meAnswer, special, types, userOf, usersOf } from '../admin-list-fixtures.ts'
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

/** The table of users, and its dialogs. */
export const userStories: readonly Story[] = [
  { name: 'users/full', path: users, boot, answers: full },
  { name: 'users/sorted', path: `${users}?sort=-last_used`, boot, answers: full },
  { name: 'users/filtered', path: `${users}?q=student&state=active&is_blocked=false`, boot, answers: some },
  { name: 'users/few', path: users, boot, answers: some },
  { name: 'users/loading', path: users, boot, answers: { ...common, listUsers: never, countUsers: never } },
  {
    name: 'users/no-match',
    path: `${users}?q=nobody+has+this+name`,
    boot,
    answers: { ...common, listUsers: { users: [], next_cursor: null }, countUsers: { count: 0 } },
  },
  {
    name: 'users/failed',
    path: users,
    boot,
    answers: {
      ...common,
      listUsers: new Refused(400, 'The cursor is not one of this list.'),
      countUsers: { count: 7 },
    },
  },
  {
    name: 'users/unreachable',
    path: users,
    boot,
    answers: { me: meAnswer, listContainers: types, listUsers: unreachable, countUsers: unreachable },
  },
  {
    name: 'users/next-page-failed',
    path: users,
    boot,
    answers: {
      ...common,
      listUsers: (request) =>
        request.url.includes('cursor=')
          ? new Refused(400, 'The cursor is not one of this list.')
          : { users: [...special], next_cursor: 'x' },
      countUsers: { count: 4_213 },
    },
  },
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
  {
    name: 'users/selected',
    path: users,
    boot,
    answers: full,
    press: ['Select chloe@students.example', 'Select elif@students.example'],
  },
  {
    name: 'users/selected-all',
    path: users,
    boot,
    answers: full,
    press: ['Select all rows that are loaded', 'Select all 100,000 that match'],
  },
  {
    name: 'users/bulk-confirm',
    path: users,
    boot,
    answers: some,
    press: ['Select all rows that are loaded', 'Block'],
  },
  {
    name: 'users/bulk-running',
    path: users,
    boot,
    answers: { ...full, bulkBlockUsers: never },
    press: ['Select all rows that are loaded', 'Select all 100,000 that match', 'Block', 'Block'],
  },
  {
    name: 'users/bulk-done',
    path: users,
    boot,
    answers: { ...some, bulkBlockUsers: bulkUsers(true), bulkUnblockUsers: bulkUsers(false) },
    press: ['Select all rows that are loaded', 'Block', 'Block'],
  },
  { name: 'users/menu', path: users, boot, answers: full, press: [second] },
  { name: 'users/menu-self', path: users, boot, answers: full, press: ['Actions for ada@faculty.example'] },
  { name: 'users/details', path: users, boot, answers: full, press: ['dmitri@students.example'] },
  {
    name: 'users/block',
    path: users,
    boot,
    answers: { ...full, previewBlock: preview },
    press: ['Actions for chloe@students.example', 'Block…'],
  },
  {
    name: 'users/block-refused',
    path: users,
    boot,
    answers: {
      ...full,
      previewBlock: { sessions: 2, containers: [] },
      blockUser: new Refused(
        409,
        'This is the last administrator who is not blocked. Make another user an administrator first.',
      ),
    },
    press: ['Actions for elif@students.example', 'Block…', 'Block'],
  },
  {
    name: 'users/blocked',
    path: users,
    boot,
    answers: {
      ...full,
      previewBlock: preview,
      blockUser: { message: 'Blocked.', user: userOf(2, { is_blocked: true }) },
    },
    press: ['Actions for chloe@students.example', 'Block…', 'Block'],
  },
  {
    name: 'users/blocking',
    path: users,
    boot,
    answers: { ...full, previewBlock: preview, blockUser: never },
    press: [second, 'Block…', 'Block'],
  },
  { name: 'users/unblock', path: users, boot, answers: full, press: [third, 'Unblock…'] },
  {
    name: 'users/unblocked',
    path: users,
    boot,
    answers: { ...full, unblockUser: { message: 'Unblocked.', user: userOf(3) } },
    press: [third, 'Unblock…', 'Unblock'],
  },
  {
    name: 'users/take-over',
    path: users,
    boot,
    answers: full,
    press: [third, 'Act for them…', 'Reason = The simulation does not start, as you wrote.'],
  },
  { name: 'users/promote', path: users, boot, answers: full, press: [third, 'Make administrator…'] },
  {
    name: 'users/demote',
    path: users,
    boot,
    answers: full,
    press: ['Actions for elif@students.example', 'Remove as administrator…'],
  },
  {
    name: 'users/delete',
    path: users,
    boot,
    answers: full,
    press: [third, 'Delete…', 'Type dmitri@students.example to confirm = dmitri@students.example'],
  },
  { name: 'users/invite', path: users, boot, answers: full, press: ['Invite people'] },
  {
    name: 'users/invite-rows',
    path: users,
    boot,
    answers: full,
    press: [
      'Invite people',
      'E-mail addresses = name;email;class\nAnn Arbor;ann@students.example;7b\nDora Doe;;7b\n"Brown, Bob";bob@students.example;7b',
    ],
  },
  {
    name: 'users/invited',
    path: users,
    boot,
    answers: { ...full, invite: invited },
    press: [
      'Invite people',
      'E-mail addresses = new@students.example',
      'Show the links, to be passed on by hand',
      'Invite 1 person',
    ],
  },
]
