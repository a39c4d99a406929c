import { NothingToSee } from '#/components/nothing-to-see.tsx'

/** For every path that is not in the list. */
export const NotFound = () => <NothingToSee why="notFound" />
