import { useSyncExternalStore } from 'react'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { EventStore, type EventStoreState } from '#/events/event-store.ts'
import { whileVisible } from '#/events/while-visible.ts'

/** The stream of this document. */
export const eventStore = new EventStore({
  open: (lastId, signal) => openStream(endpoints.containerEvents.path, lastId, signal),
  whileVisible,
})

/**
 * What happens to the person's containers, such as how far a launch is, whoever asked for it; told while the page is
 * visible. Nothing where the stream cannot be had: everything works without it, by asking.
 */
export const useEvents = (): EventStoreState => useSyncExternalStore(eventStore.subscribe, eventStore.get)
