import type { DiskEvent } from '@berth/api/container.ts'
import { partOf } from '#/sizes.ts'

const words = {
  one: 'The home folder of this container takes',
  all: 'Your home folders together take',
  soon: 'At the limit it cannot be started again: delete what you do not need any more.',
  soonAll: 'At the limit nothing more can be started: delete what you do not need any more.',
}

/** A limit that is nearly used up, and what follows. */
export function diskWords({ type, used, limit }: DiskEvent): string {
  const [what, then] = type === null ? [words.all, words.soonAll] : [words.one, words.soon]
  return `${what} ${partOf(used, limit, 'binary')}. ${then}`
}
