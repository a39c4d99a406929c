import { useSyncExternalStore } from 'react'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { EventStore, whileVisible, type EventStoreState } from './event-store.ts'

/** The event stream of this document. */
export const eventStore = new EventStore({
  open: (lastId, signal) => openStream(endpoints.containerEvents.path, lastId, signal),
  whileVisible,
})

/**
 * The events of the user's containers, such as the progress of a launch, wherever it was started; updated while the
 * page is visible. Without the stream pages work by polling.
 */
export const useEvents = (): EventStoreState => useSyncExternalStore(eventStore.subscribe, eventStore.get)
