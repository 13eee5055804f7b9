/** The names of headers and methods. */
export const isToken = /^[!#$%&'*+\-.^_`|~\w]+$/;
