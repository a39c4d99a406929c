import { StatusPage } from '#/components/page/status-page.tsx'

/** For every path that is not in the list. */
export const NotFound = () => <StatusPage why="notFound" />
