import type { BootData } from '@berth/api/boot.ts'
import type { Answer, JsonName } from '@berth/api/endpoints.ts'
import type Type from 'typebox'
import type { containerEvents } from '@berth/api/schemas/container.ts'

/** What the API answers in a story instead of a body: a refusal, nothing at all, or silence. */
export class Refused {
  readonly status: number
  readonly body: { readonly error: string } & Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    error: string,
    more: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.status = status
    this.body = { error, ...more }
    this.headers = headers
  }
}
/** The request never ends. */
export const never = Symbol('never')
/** There is no server. */
export const unreachable = Symbol('unreachable')

export type Fixture<T> = T | Refused | typeof never | typeof unreachable | ((request: Request) => T | Refused)

/** One page in one state. */
export interface Story {
  /** e.g. `dashboard/running`: part of the front end, and state. Names the picture, too. */
  readonly name: string
  /** Where in the front end it is, with its query. */
  readonly path: string
  /** What the page before left in the history entry. */
  readonly state?: unknown
  /** What the server tells the document; somebody ordinary is signed in where nothing else is said. */
  readonly boot?: Partial<BootData>
  /** The sign-in of this address ended in this tab a moment ago. */
  readonly ended?: string
  /** By endpoint; one that is not named is refused with 404, and the test of the stories fails. */
  readonly answers?: { readonly [N in JsonName]?: Fixture<Answer<N>> }
  /** What the stream of container events tells at once; it stays open afterwards. */
  readonly events?: readonly StoryEvent[]
  /** The stream of container events is refused, as to a person who is blocked. */
  readonly eventsRefused?: Refused
  /** What the stream of logs tells at once. */
  readonly logs?: readonly string[]
  /** Pressed one after the other before the picture: the accessible names of buttons, links, fields and items of menus, in the story's language. */
  readonly press?: readonly string[]
}

type Events = typeof containerEvents

/** A server-sent event of `GET /api/container/events`: its name, and its data. */
export type StoryEvent = { [N in keyof Events]: readonly [name: N, data: Type.Static<Events[N]>] }[keyof Events]
