// --- Bodies

const deep = (count: number, open: string, close: string) => open.repeat(count) + close.repeat(count)

/** Values of a wrong type, at a limit, or of odd letters; as JSON. */
export const values: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  false: 'false',
  zero: '0',
  'minus zero': '-0',
  'minus one': '-1',
  'a fraction': '1.5',
  'beyond safe integers': '9007199254740993',
  'beyond numbers': '1e999',
  'next to nothing': '5e-324',
  'an empty text': '""',
  blanks: '" \\t\\u00a0\\ufeff "',
  'a NUL': '"a\\u0000b@x.org"',
  'a line break': '"a@x.org\\r\\nBcc: b@x.org"',
  'a lone surrogate': '"\\ud800@x.org"',
  'a surrogate pair': '"\\ud83d\\ude00@x.org"',
  'letters from right to left': '"\\u202egro.x@a"',
  'the Kelvin sign': '"\\u212Aate@x.org"',
  'a long text': `"${'a'.repeat(20_000)}@x.org"`,
  'a list': '[]',
  'a list of lists': '[[[]]]',
  'a list of one': '["a@x.org"]',
  'an object': '{}',
  'an object of objects': '{"a":{"b":{}}}',
  'a name of a prototype': '"__proto__"',
  'a number in letters': '"0x10"',
}

/** Whole bodies that are no JSON, or no object. */
export const texts: Readonly<Record<string, string | Buffer>> = {
  'no body': '',
  'a blank': ' ',
  'half an object': '{"email":',
  'two objects': '{}{}',
  'a comment': '{/* */}',
  'single quotes': "{'email':'a@x.org'}",
  'a trailing comma': '{"email":"a@x.org",}',
  'no number': '{"email":NaN}',
  'a form': 'email=a%40x.org',
  'a page': '<html>',
  'a byte order mark': '\ufeff{"email":"a@x.org"',
  'bytes that are no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31]),
  'NUL bytes': Buffer.alloc(64),
  'ten thousand lists': deep(10_000, '[', ']'),
  'ten thousand objects': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'more than is accepted': `{"email":"${'a'.repeat(70_000)}"}`,
  'only a prototype': '{"__proto__":{"email":"a@x.org","reason":"x","container_ids":[1],"emails":["a@x.org"]}}',
  'only a constructor': '{"constructor":{"prototype":{"email":"a@x.org"}}}',
  'keys in another case': '{"Email":"a@x.org","EMAIL":"a@x.org","Reason":"x","Container_ids":[1],"Emails":[]}',
  ...Object.fromEntries(
    Object.entries(values)
      .filter(([, json]) => !json.startsWith('{'))
      .map(([why, json]) => [`${why} instead of an object`, json]),
  ),
}

// --- Addresses

/** As they stand in an address. */
export const encoded: Readonly<Record<string, string>> = {
  nothing: '',
  zero: '0',
  'minus one': '-1',
  'a plus': '%2B1',
  blanks: '%201%20',
  'a fraction': '1.0',
  'an exponent': '1e3',
  hexadecimal: '0x10',
  'sixteen digits': '9999999999999999',
  'digits of another script': '%D9%A1%D9%A2',
  'wide digits': '%EF%BC%91',
  'a NUL': '1%00',
  'a line break': '1%0d%0aSet-Cookie:%20a=b',
  'no UTF-8': '%ff%fe',
  'half a surrogate': '%ed%a0%80',
  'half an escape': '%e',
  'no escape': '%zz',
  'a parent folder': '..%2f..%2fetc%2fpasswd',
  'a quote': "1'%20or%20'1'='1",
  'a prototype': '__proto__',
  'a constructor': 'constructor',
  'five thousand letters': 'a'.repeat(5_000),
}
