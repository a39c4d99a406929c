import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'
import { apiReferenceHtml } from '../server/reference/api-page.ts'

const styles = path.join(import.meta.dirname, 'api-reference.css')

/**
 * Writes `api-docs.html.gz`, the reference of the API at `/api/docs`: a document without a script, made from the endpoint table, in the
 * frame and the style of the pages. The server puts name, logo and colours of the installation into it, as into `index.html`, and keeps it
 * as it is until it is first asked for.
 */
export function apiReference(): Plugin {
  let ownStyle = ''
  return {
    name: 'berth:api-reference',
    apply: 'build',
    async generateBundle() {
      const source = await readFile(styles, 'utf8')
      ownStyle = this.getFileName(this.emitFile({ type: 'asset', name: 'api-reference.css', source }))
    },
    async writeBundle({ dir = '' }) {
      const index = await readFile(path.join(dir, 'index.html'), 'utf8')
      const icon = addressIn(index, /<link rel="icon"[^>]*href="([^"]+)"/)
      const style = addressIn(index, /<link rel="stylesheet"[^>]*href="([^"]+)"/)
      await writeFile(path.join(dir, 'api-docs.html.gz'), gzipSync(documentOf(icon, [style, `/${ownStyle}`])))
    },
  }
}

/** @throws {Error} where the build changed what `index.html` looks like */
function addressIn(html: string, pattern: RegExp): string {
  const [, address] = pattern.exec(html) ?? []
  if (address === undefined) throw new Error(`index.html has nothing like ${pattern}: mend web/api-reference.ts`)
  return address
}

const documentOf = (icon: string, stylesheets: readonly string[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <meta name="robots" content="noindex" />
    <title>API reference</title>
    <link rel="icon" type="image/svg+xml" href="${icon}" />
${stylesheets.map((href) => `    <link rel="stylesheet" href="${href}" />`).join('\n')}
  </head>
  <body>
    <div class="page">
      <a class="skip button" href="#content">Skip to content</a>
      <header class="top">
        <div class="top-inner">
          <a class="brand" href="/"><img src="${icon}" alt="" width="28" height="28" />Berth</a>
        </div>
      </header>
      <main id="content" class="wide">
${apiReferenceHtml()}
      </main>
    </div>
  </body>
</html>
`
