import type { Answer } from '@berth/api/endpoints.ts'
import { refusalHeader } from '@berth/api/schemas/error.ts'
import { ada, ann, developmentEntry, minutesAgo } from '../user-fixtures.ts'
import { never, Refused, unreachable, type Story } from '../story.ts'

/** No user is signed in. */
const anonymous = { signed_in: false, csrf: null, email: null } as const
const signedOut = new Refused(401, 'Sign in first: this needs an access token.')
const longAddress = { ...ada, user: { ...ada.user, email: 'maximiliane.von-und-zu-hohenstein@informatik.example.org' } }
const containers = { containers: [developmentEntry({ container_id: 'c1' })] }

const refused = (status: number, name: string) => new Refused(status, 'Refused.', {}, { [refusalHeader]: name })
const mailed = (left: number, minutes: number) => ({
  email: 'ann@example.org',
  at: Date.parse(minutesAgo(minutes)),
  links: { left, reset: 3600 },
})
const checkMail = { path: '/check-mail', boot: anonymous, answers: { me: signedOut } } as const
const verify = (name: string, refusal: Refused): Story => ({
  name: `verify/${name}`,
  path: '/verify-login',
  state: { token: 'token' },
  boot: anonymous,
  answers: { verifyLogin: refusal },
  press: ['Sign in'],
})
const acting = (minutes: number) => ({ acting: { by: 'ada@example.org', until: minutesAgo(-minutes) } })

/** Two providers, one with a name that is as long as it may be. */
const providers = [
  { display_name: 'School account', start: 'https://berth.example.org/api/auth/oidc/school/start' },
  {
    display_name: 'Technical University of the Northern Lake District, Staff',
    start: 'https://berth.example.org/api/auth/oidc/staff/start',
  },
]
const byProvider = { ...anonymous, sign_in: { providers, email_link: true } }

const signIn: readonly Story[] = [
  { name: 'sign-in/empty', path: '/login', boot: anonymous },
  {
    name: 'sign-in/with-return-path',
    path: '/login?next=%2Fann-dev%2Ftree%2Fexercises%2Fsheet-07.ipynb',
    boot: anonymous,
  },
  { name: 'sign-in/ended', path: '/login?next=%2Fsessions', boot: anonymous, ended: 'ann@example.org' },
  { name: 'sign-in/missing', path: '/signup', boot: anonymous, press: ['Send me a link'] },
  {
    name: 'sign-in/refused',
    path: '/login',
    state: { email: 'ann@example' },
    boot: { ...anonymous, contact: 'help@example.org' },
    answers: {
      askForLink: new Refused(
        400,
        'This is not an e-mail address we can send mail to. It should look like you@example.org.',
      ),
    },
    press: ['Send me a link'],
  },
  {
    name: 'sign-in/sending',
    path: '/login',
    state: { email: 'ann@example.org' },
    boot: anonymous,
    answers: { askForLink: never },
    press: ['Send me a link'],
  },
  { name: 'sign-in/providers', path: '/login', boot: byProvider },
  {
    name: 'sign-in/providers-alone',
    path: '/login?next=%2Fann-dev%2F',
    boot: { ...anonymous, sign_in: { providers, email_link: false } },
  },
  {
    name: 'sign-in/provider-down',
    path: '/login?problem=provider-unavailable',
    boot: byProvider,
  },
  {
    name: 'sign-in/not-invited',
    path: '/login?problem=not-invited',
    boot: { ...byProvider, contact: 'help@example.org' },
  },
  { name: 'sign-in/signed-in', path: '/login', answers: { me: ann } },
  { ...checkMail, name: 'check-mail/sent', state: mailed(2, 0) },
  { ...checkMail, name: 'check-mail/again', state: mailed(1, 3) },
  {
    ...checkMail,
    name: 'check-mail/sent-again',
    state: mailed(1, 3),
    answers: { me: signedOut, askForLink: { message: 'Check your mail: we have sent you a link.' } },
    press: ['Send it again'],
  },
  { ...checkMail, name: 'check-mail/none-left', state: mailed(0, 3) },
  { ...checkMail, name: 'check-mail/unknown' },
  { ...checkMail, name: 'check-mail/providers', boot: byProvider, state: mailed(2, 0) },
]

const links: readonly Story[] = [
  { name: 'verify/login', path: '/verify-login', state: { token: 'token' }, boot: anonymous },
  { name: 'verify/signup', path: '/verify-signup', state: { token: 'token' }, boot: anonymous },
  {
    name: 'verify/automatic',
    path: '/verify-login',
    state: { token: 'token' },
    boot: { ...anonymous, asked_here: true },
    answers: { verifyLogin: never },
  },
  {
    name: 'verify/failed',
    path: '/verify-login',
    state: { token: 'token' },
    boot: { ...anonymous, asked_here: true },
    answers: {
      verifyLogin: new Refused(
        500,
        'The database does not answer, or cannot be written at the moment. Try again in a minute.',
      ),
    },
  },
  verify('expired', refused(400, 'expiredToken')),
  verify('used', refused(400, 'usedToken')),
  {
    ...verify('used-here', refused(400, 'usedToken')),
    boot: {},
    answers: { me: ann, verifyLogin: refused(400, 'usedToken') },
  },
  verify('other-kind', refused(400, 'otherToken')),
  verify('invalid', refused(400, 'badToken')),
  { name: 'verify/incomplete', path: '/verify-login', boot: anonymous },
  verify('unverified', refused(403, 'notVerified')),
  {
    ...verify('blocked', refused(403, 'userBlocked')),
    boot: { ...anonymous, contact: 'https://helpdesk.example.org/berth' },
  },
]

const branding = {
  name: 'Technical University Lab',
  logo: null,
  imprint: 'https://www.example.org/imprint',
  privacy: '/help/privacy',
  notices: [
    {
      text: {
        en: 'No containers on Saturday from 8 to 12, because of maintenance.',
        de: 'Am Samstag von 8 bis 12 Uhr laufen wegen Wartung keine Container.',
      },
      from: null,
      until: minutesAgo(-600),
    },
    { text: { en: 'Over', de: 'Vorbei' }, from: null, until: minutesAgo(1) },
  ],
}
const legalText = [
  { kind: 'heading', level: 2, spans: [{ text: 'Who is responsible' }] },
  {
    kind: 'paragraph',
    spans: [
      { text: 'The ' },
      { text: 'Technical University', is_bold: true },
      { text: ', data protection officer: ' },
      { text: 'privacy@example.org', href: 'mailto:privacy@example.org' },
      { text: '.' },
    ],
  },
  { kind: 'heading', level: 3, spans: [{ text: 'What is kept' }] },
  { kind: 'list', items: [[{ text: 'your address' }], [{ text: 'when your containers ran' }]] },
] as const satisfies Answer<'legalText'>['blocks']

const frame: readonly Story[] = [
  { name: 'not-found/signed-out', path: '/no-such-page', boot: anonymous },
  {
    name: 'not-found/signed-in',
    path: '/no-such-page',
    boot: { contact: 'Room 2.14, or ring 4711 between 9 and 16 o’clock' },
    answers: { me: ann },
  },
  { name: 'forbidden/student', path: '/admin/users', answers: { me: ann } },
  { name: 'frame/account', path: '/no-such-page', answers: { me: ann }, press: ['Accountann@example.org'] },
  {
    name: 'frame/administrator',
    path: '/no-such-page',
    boot: { is_admin: true },
    answers: { me: longAddress },
    press: [`Account${longAddress.user.email}`],
  },
  {
    name: 'frame/still-signed-in',
    path: '/no-such-page',
    answers: { me: ann, logOut: new Refused(500, 'The database does not answer. Try again in a minute.') },
    press: ['Accountann@example.org', 'Sign out'],
  },
  {
    name: 'frame/branding',
    path: '/login',
    boot: { ...anonymous, contact: 'help@example.org', branding },
  },
  {
    name: 'legal-text/privacy',
    path: '/help/privacy',
    boot: { ...anonymous, branding },
    answers: { legalText: { blocks: legalText } },
  },
  { name: 'frame/unreachable', path: '/sessions', answers: { me: ann, listSessions: unreachable } },
  { name: 'frame/offline', path: '/sessions', isOffline: true, answers: { me: ann, listSessions: unreachable } },
]

const takeover: readonly Story[] = [
  { name: 'takeover/acting', path: '/', boot: acting(12), answers: { me: ann, listContainers: containers } },
  { name: 'takeover/last-minute', path: '/no-such-page', boot: acting(0.5), answers: { me: longAddress } },
  {
    name: 'takeover/end-failed',
    path: '/no-such-page',
    boot: acting(12),
    answers: { me: ann, endTakeover: new Refused(500, 'The database does not answer. Try again in a minute.') },
    press: ['End'],
  },
  {
    name: 'takeover/notice',
    path: '/',
    answers: { me: ann, listContainers: containers },
    events: [
      ['snapshot', {}],
      ['takeover', { by: 'ada@example.org', reason: 'You wrote that your editor hangs', until: minutesAgo(-14) }],
    ],
  },
]

const session = {
  id: 1,
  created_at: minutesAgo(20),
  last_used: minutesAgo(2),
  expires_at: minutesAgo(-60 * 24 * 14),
  began: 'link',
  address: '192.0.2.7',
  browser: 'Firefox on Windows',
  is_current: true,
  taken_over_by: null,
  reason: null,
  ended_at: null,
}
const others = [
  { ...session, id: 2, browser: null, address: '2001:db8:85a3:8d3:1319:8a2e:370:7348', is_current: false },
  { ...session, id: 3, browser: 'Chrome on Android', address: '', is_current: false },
]
const takeovers = [
  {
    ...session,
    id: 4,
    is_current: false,
    browser: null,
    taken_over_by: 'ada@example.org',
    reason: 'Her editor hangs, and she asked me to look at it.',
    created_at: minutesAgo(5),
    expires_at: minutesAgo(-10),
  },
  {
    ...session,
    id: 5,
    is_current: false,
    browser: null,
    taken_over_by: longAddress.user.email,
    reason: 'Homework 3 could not be submitted',
    created_at: minutesAgo(60 * 24 * 3),
    expires_at: minutesAgo(60 * 24 * 3 - 15),
    ended_at: minutesAgo(60 * 24 * 3 - 9),
  },
]

const sessions: readonly Story[] = [
  {
    name: 'sessions/many',
    path: '/sessions',
    answers: { me: ann, listSessions: { sessions: [session, ...others, ...takeovers] } },
  },
  { name: 'sessions/alone', path: '/sessions', answers: { me: ann, listSessions: { sessions: [session] } } },
  { name: 'sessions/loading', path: '/sessions', answers: { me: ann, listSessions: never } },
  {
    name: 'sessions/failed',
    path: '/sessions',
    answers: { me: ann, listSessions: new Refused(403, 'Open Berth by its address, and sign in again.') },
  },
]

/** Pages for signed-out users, and what any page can show. */
export const frameStories: readonly Story[] = [...signIn, ...links, ...frame, ...takeover, ...sessions]
