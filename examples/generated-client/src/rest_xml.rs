//! Error responses of the protocol aws.protocols#restXml: "Operation error serialization" in
//! <https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html>.

use roxmltree::{Document, Node};

use crate::{ErrorMetadata, ErrorResponse};

/// Reads the code and the message from the element `Error`. It is the root element in S3, and inside
/// of an `ErrorResponse` in other services.
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
    // The namespace is ignored.
    node.tag_name().name() == name
}
