import { createHash } from 'node:crypto'

const style = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{max-width:34rem;margin:15vh auto;padding:0 1.5rem}
h1{font-size:1.5rem;line-height:1.25}
a{color:LinkText}
small{opacity:.7}`

/** Policy for the page: nothing loads, nothing runs, and the one style block is named by its hash. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`

const titles: Readonly<Record<number, string>> = {
  400: 'This address is not valid',
  403: 'No entry here',
  404: 'There is nothing here',
  502: 'The app does not answer',
  503: 'The container is not available',
}

/** A self-contained page that tells a person why they see no app, and the way on. Reads well in light and dark, without scripts. */
export function refusalPage(status: number, message: string, dashboardUrl: string): string {
  const title = titles[status] ?? 'This did not work'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Berth</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${escaped(message)}</p>
<p><a href="${escaped(dashboardUrl)}">Open the dashboard</a></p>
<small>Berth, status ${status}</small>
</main>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
