import type { DiskEvent } from '@berth/api/container.ts'
import { diskWords } from '#/disk-words.ts'

/** That a home, or all of them, has nearly no room left; nothing when it has. */
export function DiskNote({ event }: { event: DiskEvent | undefined }) {
  return event && <p className="note">{diskWords(event)}</p>
}
