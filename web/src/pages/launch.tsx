import { Page } from '#/components/page.tsx'

const words = {
  title: 'Starting your container',
  busy: 'One moment…',
}

/** Where the gateway sends a person whose container does not wake by itself. */
export function Launch() {
  return (
    <Page title={words.title} narrow>
      <p role="status">{words.busy}</p>
    </Page>
  )
}
