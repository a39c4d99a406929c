import { Page } from '#/components/page.tsx'
import { pages } from '#/paths.ts'

const words = {
  title: 'Nothing here',
  lead: 'There is no page at this address. Perhaps it was mistyped, or the link is an old one.',
  home: 'Go to the start page',
}

/** For every path that is not in the list. */
export function NotFound() {
  return (
    <Page title={words.title} width="narrow">
      <p>{words.lead}</p>
      <p>
        <a href={pages.home}>{words.home}</a>
      </p>
    </Page>
  )
}
