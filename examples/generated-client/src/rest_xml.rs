//! Errors of the protocol aws.protocols#restXml: "Operation error serialization" in
//! <https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html>.

use roxmltree::{Document, Node};

use super::{ErrorMetadata, ErrorResponse};

/// Code and message of the element `Error`, which S3 has at the root and other services have in an
/// `ErrorResponse`.
pub fn metadata(response: &ErrorResponse) -> ErrorMetadata {
    let (code, message) = members(&response.content).unwrap_or_default();
    ErrorMetadata { status: response.status, code, message }
}

fn members(content: &[u8]) -> Option<(Option<String>, Option<String>)> {
    let document = Document::parse(std::str::from_utf8(content).ok()?).ok()?;
    let root = document.root_element();
    let error = if is(&root, "Error") { root } else { child(root, "Error")? };
    let text = |name| child(error, name).and_then(|node| node.text()).map(str::to_owned);
    Some((text("Code"), text("Message")))
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| is(child, name))
}

fn is(node: &Node<'_, '_>, name: &str) -> bool {
    // In whatever namespace.
    node.tag_name().name() == name
}
