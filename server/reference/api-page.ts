import { refusalMeanings } from '@berth/api/openapi.ts'
import type { Endpoint } from '@berth/api/endpoints.ts'
import { accessNotes, fieldHead, fieldRows, groupedEndpoints, type NamedEndpoint } from './endpoints.ts'
import { curlExample, typescriptExample } from './examples.ts'
import { fieldsOf, sharedShapes } from './fields.ts'

/**
 * The reference of the API as HTML, for the front end's page `/api/docs`: what stands in its main part. It has the rows of
 * docs/reference/endpoints.md without those of the operator, who alone can reach them, and examples. It needs no script: the browser's own
 * search finds an endpoint in the list at the top, which leads to its section.
 */
export function apiReferenceHtml(): string {
  const groups = groupedEndpoints()
    .map(({ title, rows }) => ({ title, rows: rows.filter(([, { access }]) => access !== 'operator') }))
    .filter(({ rows }) => rows.length > 0)
  return [
    '<h1>API reference</h1>',
    lead,
    `<nav aria-label="Endpoints">${groups.map(({ title, rows }) => contents(title, rows)).join('\n')}</nav>`,
    ...groups.map(
      ({ title, rows }) =>
        `<section class="operations" aria-labelledby="${idOf(title)}">\n<h2 id="${idOf(title)}">${inline(title)}</h2>\n${rows
          .map(operation)
          .join('\n')}\n</section>`,
    ),
    sharedObjects(),
  ].join('\n')
}

const lead = `<p class="lead">Every endpoint of this Berth, with fields, errors and examples. Programs authenticate with an <a href="/tokens">API token</a>, which is refused where no scope is named; generators of clients read the <a href="/api/openapi.json">OpenAPI 3.1 document</a>.</p>
<p>In the examples <code>BERTH</code> is the address of this page without its path, such as <code>https://spawner.example.org</code>. The file <code>berth-token</code> has the line <code>Authorization: Bearer</code> with the token behind it, and <code>BERTH_TOKEN</code> is the token.</p>`

/** Links to the endpoints of a subject. */
function contents(title: string, rows: readonly NamedEndpoint[]): string {
  const links = rows.map(
    ([name, { method, path, summary }]) =>
      `<li><a href="#${name}"><code>${method} ${inline(path)}</code></a> <span class="hint">${inline(summary)}</span></li>`,
  )
  return `<h2 class="contents">${inline(title)}</h2>\n<ul class="contents">\n${links.join('\n')}\n</ul>`
}

function operation([name, endpoint]: NamedEndpoint): string {
  const { method, path, summary, redirects, upload, file, stream } = endpoint
  const remarks = [
    ...(redirects === undefined ? [] : [`Answers 302. ${redirects}.`]),
    ...(upload ? [`The body is a file: ${upload.map((type) => `\`${type}\``).join(' or ')}.`] : []),
    ...(file === undefined ? [] : [`Answers with a file, \`${file}\`.`]),
    ...(stream ? [`Answers with server-sent events: ${namesOf(stream)}.`] : []),
  ]
  return [
    `<article id="${name}" class="operation">`,
    `<h3><span class="method">${method}</span> <code class="path">${inline(path)}</code> <span class="hint">${inline(summary)}</span></h3>`,
    '<div class="operation-details">',
    `<ul class="dotted hint">${accessNotes(endpoint)
      .map((note) => `<li>${inline(note)}</li>`)
      .join('')}</ul>`,
    ...remarks.map((remark) => `<p>${inline(remark)}</p>`),
    fieldTable(fieldHead, fieldRows(endpoint)),
    errors(endpoint),
    example(`curl for ${name}`, 'curl', curlExample(endpoint)),
    example(`TypeScript for ${name}`, 'TypeScript', typescriptExample(name, endpoint)),
    '</div>',
    '</article>',
  ]
    .filter(Boolean)
    .join('\n')
}

const namesOf = (stream: NonNullable<Endpoint['stream']>) =>
  Object.keys(stream)
    .map((event) => `\`${event}\``)
    .join(', ')

function errors(endpoint: Endpoint): string {
  const meanings = refusalMeanings(endpoint)
  if (meanings.length === 0) return ''
  const entries = meanings.map(([status, meaning]) => `<li><code>${status}</code> ${inline(meaning)}</li>`)
  return `<section><h4>Errors</h4><ul class="errors">${entries.join('')}</ul></section>`
}

/** What scrolls must be reached by keyboard (WCAG 2.2, 2.1.1). */
const example = (label: string, language: string, text: string) =>
  `<section class="example"><h4>${language}</h4><pre role="region" aria-label="${label}" tabindex="0"><code>${escaped(text)}</code></pre></section>`

function sharedObjects(): string {
  const shapes = Object.entries(sharedShapes).map(
    ([name, schema]) =>
      `<article id="${name.toLowerCase()}" class="operation"><h3>${name}</h3><div class="operation-details">${fieldTable(
        fieldHead.slice(1),
        fieldsOf(schema),
      )}</div></article>`,
  )
  return `<section class="operations" aria-labelledby="about-shared-objects">\n<h2 id="about-shared-objects">Shared objects</h2>\n${shapes.join('\n')}\n</section>`
}

/** A table, or nothing without rows. */
function fieldTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const cell = (text: string) => `<td>${inline(text)}</td>`
  return `<table class="fields"><thead><tr>${head.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map(cell).join('')}</tr>`)
    .join('')}</tbody></table>`
}

const idOf = (title: string) => `about-${title}`.toLowerCase().replace(/[^a-z]+/g, '-')

/** Markdown of the descriptions, which has code and links within the page, as HTML. */
const inline = (text: string) =>
  escaped(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\[([^\]]+)\]\((#[\w-]+)\)/g, '<a href="$2">$1</a>')

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text as it stands in HTML. */
export const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => entities[character] ?? character)
