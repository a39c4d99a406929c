import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { Suspense } from 'react'
import { useEvents } from '#/events/use-events.ts'
import { lazyExport } from '#/router/lazy-export.ts'

// Most users never see one, and should not load it.
const LookNotes = lazyExport('LookNotes', () => import('./look-notes.tsx'))

/** Requests to look, and looks that are allowed now. The element is always rendered, so that a request is announced. */
export function Looks({ containers = [] }: { containers: readonly ContainerEntry[] | undefined }) {
  const { requests, looks } = useEvents().events.looks
  return (
    <div role="status" className="live looks">
      {requests.length + looks.length > 0 && (
        <Suspense fallback={null}>
          <LookNotes containers={containers} />
        </Suspense>
      )}
    </div>
  )
}
