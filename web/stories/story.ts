import type { BootData } from '@berth/api/boot.ts'
import type { Answer, JsonName } from '@berth/api/endpoints.ts'
import type Type from 'typebox'
import type { containerEvents } from '@berth/api/schemas/container.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'

/** A refusal of the API, instead of a response body. */
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
/** The server cannot be reached. */
export const unreachable = Symbol('unreachable')

export type Fixture<T> =
  T | Refused | typeof never | typeof unreachable | ((request: Request) => T | Refused | typeof never)

/** One page in one state. */
export interface Story {
  /** Such as `dashboard/running`: part of the front end, and state. Names the picture, too. */
  readonly name: string
  /** Path of the page, with its query. */
  readonly path: string
  /** State that the previous page left in the history entry. */
  readonly state?: unknown
  /** The boot data; by default an ordinary user is signed in. */
  readonly boot?: Partial<BootData>
  /** The sign-in of this address has just ended in this tab. */
  readonly ended?: string
  /** The device has no network. */
  readonly isOffline?: true
  /** By endpoint; any other is refused with 404, and the test of the stories fails. */
  readonly answers?: { readonly [N in JsonName]?: Fixture<Answer<N>> }
  /** Events that the stream of container events sends at once; it stays open afterwards. */
  readonly events?: readonly StoryEvent[]
  /** States that the stream of a group sends at once; without any it ends at once. */
  readonly memberStates?: readonly MemberState[]
  /** The stream of container events is refused, as to a blocked user. */
  readonly eventsRefused?: Refused
  /** Lines that the log stream sends at once. */
  readonly logs?: readonly string[]
  /**
   * Pressed in order before the picture: the accessible names of buttons, links, fields and menu items, in the story's
   * language.
   */
  readonly press?: readonly string[]
}

type Events = typeof containerEvents

/** A server-sent event of `GET /api/container/events`: its name and its data. */
export type StoryEvent = { [N in keyof Events]: readonly [name: N, data: Type.Static<Events[N]>] }[keyof Events]
