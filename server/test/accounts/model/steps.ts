import { constant, constantFrom, nat, oneof, record as anyRecord, type Arbitrary } from 'fast-check'
import type { Purpose, Verb } from './specification.ts'

/** Two of them are one mailbox, and two begin with the same letters, so that they want the same slug. */
export const people = ['ann@x.org', 'ben@x.org', 'ann+work@x.org', 'ann@y.org', 'admin@x.org']

/** Bodies that cause no mail; a login that is no address is an unknown one. */
export const badAddresses: readonly unknown[] = [
  { email: '' },
  { email: ' \t ' },
  { email: 'nonsense' },
  { email: 'ann@x' },
  { email: 'ann@x.org,ben@x.org' },
  { email: ['ann@x.org'] },
  { email: 12 },
  { email: null },
  {},
  [],
]

const spellings: readonly ((email: string) => string)[] = [
  (email) => email,
  (email) => email.toUpperCase(),
  (email) => ` \t${email}\n`,
  (email) => `${email[0]?.toUpperCase()}${email.slice(1).replace('x.org', 'X.Org')} `,
]

export const spell = (who: number, spelling: number): string => spellings[spelling]?.(people[who] ?? '') ?? ''

export interface Holder {
  /** Among whose tokens: those that are good, those of them that are administrators', those of deleted people, or all there ever were. */
  readonly among: 'good' | 'administrators' | 'deleted' | 'all'
  /** Which of them, from the newest on, and again from there. */
  readonly token: number
}

export type Step =
  | { readonly do: 'sign up' | 'log in' | 'resend'; readonly who: number; readonly spelling: number }
  | { readonly do: 'ask badly'; readonly at: Purpose; readonly what: number }
  | { readonly do: 'come in'; readonly who: number }
  | {
      readonly do: 'verify'
      /** Among all links, or those that were not used and have not expired. */
      readonly among: 'live' | 'all'
      readonly link: number
      /** At the endpoint of its purpose, or at the other. */
      readonly at: 'right' | 'wrong'
      readonly how: 'once' | 'twice' | 'head' | 'prefetch'
    }
  | ({ readonly do: 'look'; readonly at: 'me' | 'containers' | 'status' | 'users' } & Holder)
  | ({ readonly do: 'launch'; readonly type: string } & Holder)
  | ({ readonly do: 'log out' | 'end others' } & Holder)
  | ({ readonly do: 'administer'; readonly verb: Verb; readonly whom: number } & Holder)
  | { readonly do: 'all sign up at once' }
  | { readonly do: 'ask five times at once'; readonly who: number }
  | { readonly do: 'time passes' | 'the clock is set'; readonly units: number }
  | { readonly do: 'mail'; readonly works: boolean }

/** As a person would write it, so that what fails can be read. */
const record = <T>(fields: { [K in keyof T]: Arbitrary<T[K]> }) => anyRecord(fields, { noNullPrototype: true })
const person = nat({ max: people.length - 1 })
const holder = { among: constantFrom('good', 'good', 'good', 'deleted', 'all'), token: nat({ max: 9 }) }
const administrator = {
  among: constantFrom('administrators', 'administrators', 'administrators', 'good', 'all'),
  token: nat({ max: 9 }),
}
const purpose = constantFrom<Purpose>('signup', 'login')
const ask = (what: 'sign up' | 'log in' | 'resend') =>
  record({ do: constant(what), who: person, spelling: nat({ max: spellings.length - 1 }) })

/** Weights: people sign in and look often, so that there are users to block. */
export const step: Arbitrary<Step> = oneof(
  { weight: 4, arbitrary: ask('sign up') },
  { weight: 4, arbitrary: ask('log in') },
  { weight: 1, arbitrary: ask('resend') },
  {
    weight: 1,
    arbitrary: record({ do: constant('ask badly'), at: purpose, what: nat({ max: badAddresses.length - 1 }) }),
  },
  { weight: 9, arbitrary: record({ do: constant('come in'), who: person }) },
  {
    weight: 12,
    arbitrary: record({
      do: constant('verify'),
      among: constantFrom('live', 'live', 'live', 'all'),
      link: nat({ max: 5 }),
      at: constantFrom('right', 'right', 'right', 'wrong'),
      how: constantFrom('once', 'once', 'once', 'once', 'twice', 'head', 'prefetch'),
    }),
  },
  {
    weight: 8,
    arbitrary: record({
      do: constant('look'),
      at: constantFrom('me', 'containers', 'status', 'users'),
      ...holder,
    }),
  },
  {
    weight: 1,
    arbitrary: record({ do: constant('launch'), type: constantFrom('dev', 'prod', 'toString'), ...holder }),
  },
  { weight: 2, arbitrary: record({ do: constantFrom('log out', 'log out', 'end others'), ...holder }) },
  {
    weight: 10,
    arbitrary: record({
      do: constant('administer'),
      verb: constantFrom<Verb>(
        'block',
        'block',
        'unblock',
        'promote',
        'demote',
        'delete',
        'takeover',
        'takeover',
        'resend-verification',
      ),
      whom: person,
      ...administrator,
    }),
  },
  { weight: 1, arbitrary: record({ do: constant('all sign up at once') }) },
  { weight: 1, arbitrary: record({ do: constant('ask five times at once'), who: person }) },
  { weight: 3, arbitrary: record({ do: constant('time passes'), units: constantFrom(1, 1, 1, 3, 9) }) },
  { weight: 1, arbitrary: record({ do: constant('the clock is set'), units: constantFrom(-9, 1, 1, 9) }) },
  { weight: 2, arbitrary: record({ do: constant('mail'), works: constantFrom(true, true, true, false) }) },
) as Arbitrary<Step>
