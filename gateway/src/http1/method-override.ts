/**
 * Ways in which a request may ask a framework for another method than that of its first line: a header (Rack, Express, Django,
 * OData), or a parameter of its address (WordPress takes `_method` from that of a GET). Names are compared by their letters,
 * because CGI-like apps take every other character for the same, and by what they say: each framework has spellings of its own.
 */

/** Says what a page of another origin wants to send (Fetch standard, 3.3.2); browsers send it themselves. */
const ofBrowsers = 'accesscontrolrequestmethod'

/** Names of headers, by their letters. */
const headerForms = /method|override|verb$/

/** `_method`, `$httpMethod`, `.method`, which PHP takes for the first; Gerrit's `$m`. */
const parameterForms = /^(?:[^a-z0-9]+(?:x[^a-z]*)?(?:http[^a-z]*)?(?:method|verb)|\$m)$/

/** `X-HTTP-Method-Override`, `x_method`, `methodOverride` and the like, by their letters. */
const parameterLetters = /^x(?:http)?method$|methodoverride|overridemethod/

/** Whether a header line or the query asks for another method than that of the request line. @param text of the head, from its request line on */
export function overridesMethod(target: string, text: string): boolean {
  return linesOverrideMethod(text) || queryOverridesMethod(target)
}

function linesOverrideMethod(text: string): boolean {
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    const letters = lettersOf(text.slice(at + 2, text.indexOf(':', at)))
    if (headerForms.test(letters) && letters !== ofBrowsers) return true
  }
  return false
}

function queryOverridesMethod(target: string): boolean {
  const mark = target.indexOf('?')
  if (mark === -1) return false
  // Servers of many languages end a parameter at a semicolon, too.
  return target
    .slice(mark + 1)
    .split(/[&;]/)
    .some((parameter) => {
      const name = nameOf(parameter)
      return parameterForms.test(name) || parameterLetters.test(lettersOf(name))
    })
}

/** As lenient servers read it: without blanks before it, up to a NUL or, as PHP reads lists, a bracket; `%u005f` is ASP.NET's. */
function nameOf(parameter: string): string {
  const [encoded = ''] = parameter.split('=', 1)
  const name = encoded
    .replaceAll('+', ' ')
    .replace(/%(?:u00)?([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return name
    .replace(/[\0[].*$/s, '')
    .trim()
    .toLowerCase()
}

const lettersOf = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
