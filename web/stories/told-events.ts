import type Type from 'typebox'
import type { containerEvents } from '@berth/api/schemas/container.ts'

type Events = typeof containerEvents

/** A server-sent event of `GET /api/container/events`: its name, and its data. */
export type StoryEvent = { [N in keyof Events]: readonly [name: N, data: Type.Static<Events[N]>] }[keyof Events]
