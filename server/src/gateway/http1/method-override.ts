/**
 * Names of headers by which a request may ask a framework for another method. CGI-like apps read `X_HTTP_Method_Override` and
 * `X.HTTP.Method.Override` as `X-HTTP-Method-Override`. Each line is compared once, so the time is linear in the length.
 */
const overrideLine = /\r\nx[-_.](?:http[-_.]method(?:[-_.]override)?|method[-_.]override):/i

/** Whether a header line asks for another method than that of the request line. @param text of the head, from its request line on */
export const overridesMethod = (text: string): boolean => overrideLine.test(text)

/** As `overridesMethod`, for the lines behind a chunked body. @param trailers each with its CRLF */
export const trailersOverrideMethod = (trailers: string): boolean => overrideLine.test(`\r\n${trailers}`)
