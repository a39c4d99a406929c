import { useSyncExternalStore } from 'react'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api.ts'
import { Hearing, type Heard } from '#/hearing.ts'
import { whileVisible } from '#/visible.ts'

/** The stream of this document. */
export const hearing = new Hearing({
  open: (lastId, signal) => openStream(endpoints.containerEvents.path, lastId, signal),
  whileVisible,
})

/**
 * What happens to the person's containers, such as how far a launch is, whoever asked for it; told while the page is
 * visible. Nothing where the stream cannot be had: everything works without it, by asking.
 */
export const useEvents = (): Heard => useSyncExternalStore(hearing.subscribe, hearing.get)
